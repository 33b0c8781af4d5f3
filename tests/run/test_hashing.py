"""The one hash of the package: known values, text and bytes alike."""

import hashlib

import pytest

from smallearn._run.hashing import digest, hex_digest


@pytest.mark.parametrize("content", ["", "abc", "模型 ±", b"\x00\xff"])
def test_it_is_sha_256_of_the_bytes_or_of_the_text_as_utf_8(content):
    data = content.encode() if isinstance(content, str) else content
    assert digest(content) == hashlib.sha256(data).digest()
    assert hex_digest(content) == hashlib.sha256(data).hexdigest()


def test_fewer_digits_are_the_first_ones():
    assert hex_digest("abc", 12) == "ba7816bf8f01"
    assert hex_digest("abc").startswith(hex_digest("abc", 12))


def test_text_that_is_not_unicode_has_a_hash_of_its_own():
    assert hex_digest("\udcff") != hex_digest("?")
