"""Settings of the tests of pictures."""

import matplotlib as mpl
import pytest

mpl.use("agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def _close():
    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before  # a picture leaves the settings as they were
