"""The content security policy of the page: what a browser may load and run of it."""

import base64
import hashlib


def hash_of(text: str) -> str:
    """The hash by which a policy allows an inline script or style: this text alone."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"


def policy_of(script: str, style: str) -> str:
    """The policy that allows one script and one style and nothing else.

    Neither needs ``'unsafe-inline'``: the page has no handlers and no ``style`` attributes. Widths that the script sets
    through ``element.style`` are no attributes either.
    """
    return (
        f"default-src 'none'; style-src '{hash_of(style)}'; script-src '{hash_of(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
