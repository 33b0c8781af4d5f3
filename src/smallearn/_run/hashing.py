"""The one hash of the package: SHA-256 of bytes or text. Uses the standard library alone, because models need it."""

import hashlib


def digest(content: bytes | memoryview | str) -> bytes:
    """SHA-256, 32 bytes. Text is encoded as UTF-8; lone surrogates, which stand for undecodable bytes, are kept."""
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return hashlib.sha256(data).digest()


def hex_digest(content: bytes | memoryview | str, length: int = 64) -> str:
    """The first ``length`` hexadecimal digits of the SHA-256."""
    return digest(content).hex()[:length]
