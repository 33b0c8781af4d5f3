"""A fit from Parquet within a limit of memory, as ``python -m benchmarks.large --limit`` does it with 4 GB of rows."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

from benchmarks.large.data import write_parquet
from benchmarks.large.limit import CLOSE, difference

ROWS, COLUMNS = 2_000_000, 32  # 256 MB
ALLOWED = 64 * 2**20  # bytes, beside what a small fit needed before

COMMON = """
import json, sys, tempfile
from pathlib import Path
from benchmarks.large.data import in_memory, write_parquet
from benchmarks.large.limit import answer, fit_in_memory, fit_limited, status
from smallearn._learn.data import source
from smallearn.tables import open_table

source.POOL_ROWS = source.LEAST_POOL_ROWS = 1 << 13  # a smaller sample takes less time
source.BLOCK_ENTRIES = 1 << 18
path, n_rows, n_columns, allowed = sys.argv[1], *map(int, sys.argv[2:])
"""
LIMITED = """
with tempfile.TemporaryDirectory() as folder:  # libraries are loaded, functions compiled
    write_parquet(Path(folder, "small.parquet"), 40_000, n_columns)
    answer(open_table(Path(folder, "small.parquet"), "y", dtype="float32", cache=folder))
print(json.dumps(fit_limited(path, status("VmData:") * 2**20 + allowed)))
"""
FREE = "print(json.dumps(fit_in_memory(n_rows, n_columns)))"


def run(script, path):
    """What a process of its own prints. Arrow's memory is the system's, so that none is reserved before the limit."""
    command = [sys.executable, "-c", COMMON + script, str(path), *map(str, (ROWS, COLUMNS, ALLOWED))]
    environment = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="needs Linux")
def test_rows_of_four_times_the_memory_that_is_allowed_give_the_model_of_those_in_memory(tmp_path):
    path = tmp_path / "rows.parquet"
    write_parquet(path, ROWS, COLUMNS)
    assert path.stat().st_size >= 4 * ALLOWED
    assert difference(run(LIMITED, path), run(FREE, path)) <= CLOSE
