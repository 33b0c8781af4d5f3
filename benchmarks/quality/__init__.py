"""How good are the small models? Accuracy at a given number of terms, against rivals with the same bound.

Every process computes on one thread, so that times compare and processes do not get in each other's way; this must be
said before numerical libraries are loaded, hence here.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"
