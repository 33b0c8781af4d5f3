"""What a model costs on a chip: bytes of flash and RAM, and time. New chips go into ``_chips.py``.

`CHIPS` has the chips by name:

>>> from smallearn.devices import CHIPS
>>> CHIPS["atmega328p"].flash
32768
"""

from smallearn.devices._chips import CHIPS, Chip
from smallearn.devices._cost import Cost, cost
from smallearn.devices._measure import available
from smallearn.devices._toolchain import ToolchainError

__all__ = ["CHIPS", "Chip", "Cost", "ToolchainError", "available", "cost"]
