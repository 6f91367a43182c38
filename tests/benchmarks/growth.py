"""
How work grows: the exponent of a power law through what was measured, by least squares on logarithms.

1 is linear, 2 quadratic.
"""

from __future__ import annotations

from math import log
from statistics import linear_regression
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Fewer sizes make no law.
FEWEST = 3


def exponent(measured: Mapping[float, float]) -> float | None:
    """Fit size -> work; None for fewer than three sizes."""
    if len(measured) < FEWEST:
        return None
    return linear_regression([log(size) for size in measured], [log(work) for work in measured.values()]).slope
