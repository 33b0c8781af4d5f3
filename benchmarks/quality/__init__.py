"""Accuracy of small models: smallearn against rivals with the same number of terms.

Every process uses one thread, so that times are comparable. The variables must be set before numerical libraries are
loaded, which is why they are set here.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"
