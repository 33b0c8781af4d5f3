"""What a model costs on a chip: bytes of flash and RAM, and time."""

from smallearn.devices.chips import CHIPS, Chip
from smallearn.devices.cost import Cost, cost
from smallearn.devices.measure import available
from smallearn.devices.toolchain import ToolchainError

__all__ = ["CHIPS", "Chip", "Cost", "ToolchainError", "available", "cost"]
