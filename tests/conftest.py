"""Settings shared by all tests."""

from hypothesis import settings

# The first example of a test may wait for a kernel to compile; and the same commit should always give the same answer.
settings.register_profile("smallearn", deadline=None, derandomize=True)
settings.load_profile("smallearn")
