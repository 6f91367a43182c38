"""
Bytes of a URL, as they come.

Law: what goes wrong before the first byte ends in CannotRun, what goes wrong later in InputCut: what came is used. httpx is
loaded here and nowhere else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from .console import CannotRun, InputCut

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What is asked for, best first; whatever comes is looked at.
_ACCEPT = "text/event-stream, application/x-ndjson, application/jsonl, application/json;q=0.9, */*;q=0.8"

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


class Access(NamedTuple):
    """How a URL is asked for."""

    headers: tuple[tuple[str, str], ...] = ()
    timeout: float = 60.0  #: seconds, to connect and between bytes


def header_of(text: str) -> tuple[str, str]:
    """Read `Name: value`. Raises CannotRun."""
    name, colon, value = text.partition(":")
    value = value.strip(" \t")
    if not colon or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
        # The value may be a secret, and what is no header may be one whole.
        message = f"-H {name if colon else '...'!r} is no header: write 'Name: value', printable and on one line"
        raise CannotRun(message)
    return name, value


def shown_url(url: str) -> str:
    """Give a URL without the password that it may hold."""
    from urllib.parse import urlsplit, urlunsplit

    try:
        parts = urlsplit(url)
        user = parts.netloc.rpartition("@")[0]
    except ValueError:
        return url
    return urlunsplit(parts._replace(netloc=f"***@{parts.netloc.rpartition('@')[2]}")) if user else url


def pieces_of_url(url: str, access: Access) -> Iterator[bytes]:
    """
    Ask for a URL and give what comes. Redirects are followed.

    Raises:
        CannotRun: there is no answer, or one that is an error.
        InputCut: it breaks off.

    """
    try:
        import httpx
    except ImportError:
        message = "reading a URL needs httpx: pip install 'eventfold[http]'"
        raise CannotRun(message) from None
    shown = shown_url(url)
    begun = False
    try:
        with (
            httpx.Client(follow_redirects=True, timeout=access.timeout) as client,
            client.stream("GET", url, headers=_headers(access)) as answer,
        ):
            if not answer.is_success:
                message = f"{shown} answered {answer.status_code} {answer.reason_phrase}".rstrip()
                raise CannotRun(message)
            for piece in answer.iter_bytes():
                begun = begun or bool(piece)
                yield piece
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, ImportError, OSError) as error:
        reason = _reason(error, access.timeout)
        if begun:
            raise InputCut(reason) from None
        message = f"{shown} cannot be read: {reason}"
        raise CannotRun(message) from None


def _headers(access: Access) -> list[tuple[str, str]]:
    own = {name.lower() for name, _ in access.headers}
    given = [("accept", _ACCEPT), ("user-agent", "eventfold")]
    return [*((name, value) for name, value in given if name not in own), *access.headers]


def _reason(error: Any, timeout: float) -> str:
    """Say what went wrong with a connection, in a few words."""
    import httpx

    if isinstance(error, httpx.ConnectTimeout):
        return f"no connection within {timeout:g} s"
    if isinstance(error, httpx.TimeoutException):
        return f"nothing came for {timeout:g} s"
    if isinstance(error, httpx.RemoteProtocolError):
        return f"the server hung up ({error})"
    if isinstance(error, httpx.ReadError):
        return f"the connection broke ({error})" if str(error) else "the connection broke"
    return str(error) or type(error).__name__
