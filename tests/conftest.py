"""
Hypothesis profiles.

`quick` runs with the tests, always on the same examples, so that a change is judged and not the day. `deep` is for
closing a change: pytest --hypothesis-profile=deep. `unshrunk` fails at once, for planted faults. Health checks stay on in
all, also where hypothesis finds that it runs in CI and would silence one.
"""

from __future__ import annotations

from hypothesis import Phase, settings

settings.register_profile("quick", max_examples=40, deadline=None, derandomize=True, database=None, suppress_health_check=())
settings.register_profile("unshrunk", settings.get_profile("quick"), phases=[Phase.explicit, Phase.generate])
settings.register_profile("deep", max_examples=5000, deadline=None, print_blob=True, suppress_health_check=())
settings.register_profile("judged", settings.get_profile("deep"), max_examples=1500)
settings.load_profile("quick")
