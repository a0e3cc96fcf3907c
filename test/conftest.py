"""Settings of the whole suite."""

from hypothesis import HealthCheck, settings

# How long an example takes depends on what else the machine does.
settings.register_profile("mlc", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mlc")
