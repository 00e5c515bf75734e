"""Settings for the whole suite."""

from hypothesis import HealthCheck, settings

# A busy machine must not fail a test, and a failure must come again: no deadline, no randomness.
settings.register_profile(
    "counterset",
    deadline=None,
    derandomize=True,
    max_examples=75,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("counterset")
