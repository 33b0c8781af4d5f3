"""Which requests are answered: those of the page that was opened with the token, and of nobody else.

- The address that is printed has a random token. Opening it sets a cookie, which no other site's request carries
  (SameSite=Strict) and no script can read; whatever comes without it is refused.
- A request that changes something also has to carry a header that only the page knows, so that no form of another page
  can send it, wherever it comes from.
- The Host header has to be this server's own: a name of somebody else's that resolves to this machine is refused.
- Answers may not be read by other pages, kept in caches or shown in their frames, and can load nothing from elsewhere.
"""

import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from smallearn.cli.io.files import size_text

HEADER = "x-smallearn"
MOST_UPLOADED = 1_000_000_000  # bytes of a table
MOST_ASKED = 1_000_000  # bytes of any other request
SAFE = ("GET", "HEAD")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# The report's page brings a style and a script along, whose hashes its own policy has. Here it also has the bridge, a
# script that tells this page what is set on it, and runs as a page of no origin: it can ask this server nothing.
FRAMED = "sandbox allow-scripts allow-downloads allow-modals; {directives}; frame-ancestors 'self'"
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


def _secret() -> str:
    return secrets.token_urlsafe(32)


@dataclass(frozen=True)
class Keys:
    """What opens the page: the token in its address, the cookie that this sets, and the header that the page sends."""

    port: int
    token: str = field(default_factory=_secret)
    cookie: str = field(default_factory=_secret)
    header: str = field(default_factory=_secret)

    @property
    def cookie_name(self) -> str:
        """The name of the cookie; cookies are shared by all ports of a machine, so that it names this one."""
        return f"smallearn-{self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What the Host header may be."""
        return (f"127.0.0.1:{self.port}", f"localhost:{self.port}")

    def address(self) -> str:
        """The address to open."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"


class Guard:
    """Wraps an ASGI application: refuses requests, and adds headers to every answer."""

    def __init__(self, app: Any, keys: Keys):
        self.app, self.keys = app, keys

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # a web socket, which this page does not use
            await send({"type": "websocket.close", "code": 1008})
            return
        send = _with_headers(send)
        refusal = self._refusal(scope)
        if refusal is None:
            await self.app(scope, receive, send)
            return
        status, text = refusal
        head = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": text.encode()})

    def _refusal(self, scope: Any) -> tuple[int, str] | None:
        """Why a request is not answered; None if it is."""
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if headers.get("host") not in self.keys.hosts:
            return 403, "This server answers to its own address only.\n"
        origin = headers.get("origin")
        if origin is not None and origin.removeprefix("http://") not in self.keys.hosts:
            return 403, "Requests from other pages are refused.\n"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not self._opens(scope):
            return 403, "Requests from other pages are refused.\n"
        if not self._knows_cookie(headers.get("cookie", "")) and not self._opens(scope):
            return 403, "Open the address that smallearn app printed: it has the token that this page needs.\n"
        if scope["method"] not in SAFE and not _same(headers.get(HEADER, ""), self.keys.header):
            return 403, f"The request lacks the header {HEADER} that the page sends.\n"
        return _too_long(scope, headers.get("content-length"))

    def _opens(self, scope: Any) -> bool:
        """Whether this is the address that was printed."""
        query = parse_qs(scope["query_string"].decode("latin-1"))
        opened = scope["path"] == "/" and scope["method"] in SAFE
        return opened and _same(query.get("token", [""])[0], self.keys.token)

    def _knows_cookie(self, text: str) -> bool:
        try:
            found = SimpleCookie(text).get(self.keys.cookie_name)
        except CookieError:
            return False
        return found is not None and _same(found.value, self.keys.cookie)


def _same(one: str, other: str) -> bool:
    """Whether two texts are equal, in a time that does not tell how much of them is."""
    return secrets.compare_digest(one.encode(), other.encode())


def most_of(scope: Any) -> int:
    """The most bytes that a request may have."""
    return MOST_UPLOADED if scope["method"] == "PUT" else MOST_ASKED


def too_long(scope: Any) -> str:
    """The message to a request that is longer."""
    most = size_text(most_of(scope))
    if scope["method"] == "PUT":
        return f"An uploaded table may have at most {most}. Name a larger one when you start: smallearn app TABLE.\n"
    return f"This request may have at most {most}.\n"


def _too_long(scope: Any, length: str | None) -> tuple[int, str] | None:
    if length is not None and length.isdecimal() and int(length) > most_of(scope):
        return 413, too_long(scope)
    return None


def _with_headers(send: Any) -> Any:
    """Add the headers to an answer that has not its own."""

    async def wrapped(message: Any) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message["headers"]}
            more = [(name.encode(), text.encode()) for name, text in HEADERS.items() if name.encode() not in own]
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return wrapped
