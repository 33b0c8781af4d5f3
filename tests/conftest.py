"""Settings shared by all tests."""

import os

from hypothesis import settings

# Read by scipy when it is first imported; without it one of scikit-learn's checks would be skipped.
os.environ["SCIPY_ARRAY_API"] = "1"

# The first example of a test may wait for a kernel to compile; and the same commit should always give the same answer.
settings.register_profile("smallearn", deadline=None, derandomize=True)
settings.load_profile("smallearn")
