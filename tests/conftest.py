"""Settings for the whole suite."""

import os

from hypothesis import HealthCheck, settings

# The models here are small, so threads cost more than they give. Read when numpy is imported.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# A busy machine must not fail a test, and a failure must come again: no deadline, no randomness.
settings.register_profile(
    "counterset",
    deadline=None,
    derandomize=True,
    max_examples=75,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("counterset")
