"""
Base64 as the contract wants it.

Law: bytes have one text. What another decoder would take, or read differently, is refused.
"""

from __future__ import annotations

import binascii


def decode_base64(text: str) -> bytes:
    """
    Decode a base64 document strictly (RFC 4648, section 4, and zero trailing bits, section 3.5).

    Raises:
        ValueError: it is not one; says where it differs.

    """
    try:
        data = binascii.a2b_base64(text, strict_mode=True)
    except (binascii.Error, ValueError) as error:
        message = f"{text[:40]!r}{'...' if len(text) > 40 else ''} is not base64 ({error})"  # noqa: PLR2004  enough to recognise it
        raise ValueError(message) from None
    if text.endswith("=") and binascii.b2a_base64(data[-(len(data) % 3) :], newline=False).decode() != text[-4:]:
        message = f"the last group {text[-4:]!r} has trailing bits that are not zero"
        raise ValueError(message)
    return data
