"""
Hypothesis profiles.

`quick` runs with the tests, always on the same examples, so that a change is judged and not the day. `deep` is for
closing a change: pytest --hypothesis-profile=deep. Health checks stay on in both.
"""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("quick", max_examples=40, deadline=None, derandomize=True, database=None)
settings.register_profile("deep", max_examples=5000, deadline=None, print_blob=True)
settings.load_profile("quick")
