"""Settings of the whole suite."""

from hypothesis import settings

settings.register_profile("mlc", deadline=None)  # how long an example takes depends on what else the machine does
settings.load_profile("mlc")
