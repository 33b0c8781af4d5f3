"""What the tests of the pages share with those of the commands and of Dask."""

from tests.cli.conftest import cache, few_standard_models  # noqa: F401
from tests.dask.conftest import few_are_many  # noqa: F401
