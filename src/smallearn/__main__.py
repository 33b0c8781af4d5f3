"""``python -m smallearn`` is the command ``smallearn``."""

import sys

from smallearn.cli import main

sys.exit(main())
