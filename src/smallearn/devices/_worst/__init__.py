"""Internal: the worst case of a compiled function, proven from its machine code.

``_paths`` finds the longest path; ``_avr`` and ``_thumb`` say what instructions do and cost. A new architecture is one
more such file and its line in `CODES`.
"""

from smallearn.devices._chips import Chip
from smallearn.devices._toolchain import Image
from smallearn.devices._worst._avr import AvrCode
from smallearn.devices._worst._paths import Machine, Unproven, Worst, longest_path
from smallearn.devices._worst._thumb import ThumbCode

__all__ = ["Unproven", "Worst", "worst_case"]

CODES = {"avr-": AvrCode, "arm-none-eabi-": ThumbCode}  # by architecture, as in ``_chips.ARCHITECTURES``


def worst_case(image: Image, chip: Chip) -> Worst:
    """A bound for every input of the program's function, from the call to the return; `Unproven` if there is none."""
    code = CODES.get(chip.prefix)
    if code is None:
        raise Unproven(f"machine code of {chip.name} is not read")
    machine: Machine = code(image, chip)
    return longest_path(machine)
