"""Settings for the whole suite."""

import os

import pytest
from hypothesis import HealthCheck, settings

# The models here are small, so threads cost more than they give. Read when numpy is imported.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# How many examples a property test tries, unless it says so itself. The usual number notices most
# faults and keeps the suite short. CI tries more: pytest --hypothesis-profile=thorough
for _name, _examples in {"thorough": 80, "usual": 25}.items():
    # A busy machine must not fail a test, and a failure must come again.
    settings.register_profile(
        _name,
        deadline=None,
        derandomize=True,
        max_examples=_examples,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("usual")


@pytest.fixture(scope="session")
def thorough() -> bool:
    """Whether to try all combinations that a test knows, as CI does, and not every second one."""
    return settings().max_examples == settings.get_profile("thorough").max_examples
