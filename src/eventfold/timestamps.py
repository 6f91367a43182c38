"""
Points in time, as text.

Law: ISO 8601, with or without offset, as the Timestamp of schemas/parts/primitives.json says; of what datetime does not read, the
few forms that producers write.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

_read = datetime.fromisoformat

#: ISO 8601 that datetime does not read: a leap second, midnight as 24:00, a day of the year, a month, an offset in hours, a comma.
_ISO_8601 = re.compile(
    r"\d{4}-(?:(?P<month>\d\d)(?:-(?P<day>\d\d))?|(?P<of_year>\d{3}))"
    r"(?:T(?P<time>(?:(?P<hour>\d\d):[0-5]\d(?::(?P<second>\d\d)(?:[.,]\d+)?)?))(?:Z|[+-]\d\d(?::?\d\d)?)?)?"
)


def is_timestamp(text: str) -> bool:
    """Tell whether a text is one."""
    try:
        _read(text)
    except ValueError:
        found = _ISO_8601.fullmatch(text)
        return found is not None and _is_possible(text[:4], **found.groupdict())
    return True


def _is_possible(
    year: str, *, month: str | None, day: str | None, of_year: str | None, time: str | None, hour: str | None, second: str | None
) -> bool:
    """Tell whether there is such a day, and such a time on it."""
    try:
        _read(f"{year}-{month or '01'}-{day or '01'}")
    except ValueError:
        return False
    if of_year is not None and not 1 <= int(of_year) <= datetime(int(year), 12, 31, tzinfo=UTC).timetuple().tm_yday:
        return False
    midnight = time is not None and hour == "24" and not time.strip("240:.,")
    return hour is None or ((hour < "24" or midnight) and (second or "") <= "60")
