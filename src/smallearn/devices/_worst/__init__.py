"""Internal: the worst case of a compiled function, proven from its machine code.

``_paths`` finds the longest path; ``_avr``, ``_thumb`` and ``_riscv`` say what instructions do and cost. A new
architecture is one more such file and its line in `CODES`.
"""

from collections.abc import Callable

from smallearn.devices._chips import Chip
from smallearn.devices._toolchain import Image
from smallearn.devices._worst._avr import AvrCode
from smallearn.devices._worst._paths import Machine, UnprovenError, Worst, longest_path
from smallearn.devices._worst._riscv import RiscvCode
from smallearn.devices._worst._thumb.code import ThumbCode

__all__ = ["UnprovenError", "Worst", "worst_case"]

CODES: dict[str, Callable[[Image, Chip], Machine]] = {
    "avr-": AvrCode,
    "arm-none-eabi-": ThumbCode,
    "riscv64-unknown-elf-": RiscvCode,
}  # by architecture, as in ``_chips.ARCHITECTURES``


def worst_case(image: Image, chip: Chip) -> Worst:
    """A bound for every input of the program's function, from the call to the return, or `UnprovenError`."""
    if chip.prefix not in CODES:
        raise UnprovenError(f"machine code of {chip.name} is not read")
    return longest_path(CODES[chip.prefix](image, chip))
