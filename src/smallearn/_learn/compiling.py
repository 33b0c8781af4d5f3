"""How kernels are compiled, an instruction that Python has no word for, and the notice of what takes a while.

With ``NUMBA_DISABLE_JIT=1`` nothing is compiled: kernels run as the Python that they are written in.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import config, njit, types
from numba.core import event
from numba.extending import intrinsic

_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}  # C calls none of them
# NaN and infinities keep their meaning; sums may be reordered, so that dot products use SIMD.
_REORDERED = {"reassoc", "contract", "nsz", "arcp"}
_PACKAGE = __name__.rpartition(".")[0]


def compiled(function):
    """Compile on the first call and cache the result on disk, or only in memory if no cache folder can be written."""
    return _compiled(function, fastmath=_REORDERED)


def compiled_in_order(function):
    """As `compiled`, for code that is only right if its operations keep their order."""
    return _compiled(function, fastmath={"contract", "nsz"})


def compiled_as_written(function, inline="never"):
    """As `compiled`, for code whose results are those of numpy bit for bit: no product is fused with a sum either."""
    return _compiled(function, fastmath=False, inline=inline)


def instructions(generate):
    """As numba's ``intrinsic``. If nothing is compiled, the function of that name in `uncompiled` is called instead."""
    if not config.DISABLE_JIT:
        return intrinsic(generate)

    @wraps(generate)
    def call(*arguments):
        return getattr(import_module(f"{_PACKAGE}.uncompiled"), generate.__name__)(*arguments)

    return call


def _compiled(function, **options):
    if config.DISABLE_JIT:
        return _without_warnings(function)
    try:
        return njit(cache=True, **_OPTIONS, **options)(function)
    except RuntimeError:  # numba found no writable folder
        return njit(**_OPTIONS, **options)(function)


def _without_warnings(function):
    """The function itself, as silent about overflows and divisions by 0 as compiled code."""

    @wraps(function)
    def call(*arguments):
        with np.errstate(all="ignore"):
            return function(*arguments)

    return call


@instructions
def prefetch(_context, array, _offset):
    """Ask the processor for the cache line at ``offset`` bytes into an array. Any offset is allowed."""

    def generate(context, builder, signature, arguments):
        start = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.gep(builder.bitcast(start, ir.IntType(8).as_pointer()), [arguments[1]])
        flag = ir.IntType(32)
        hint = ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag])
        call = builder.module.declare_intrinsic("llvm.prefetch", (address.type,), hint)
        builder.call(call, [address, flag(0), flag(3), flag(1)])  # to be read, soon, as data
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


class _Notice(event.Listener):
    """Print one line when a kernel is compiled; a kernel that is read from the cache raises no event."""

    def __init__(self) -> None:
        self.printed = False

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        if self.printed or not dispatcher.py_func.__module__.startswith(_PACKAGE):
            return
        self.printed = True
        if dispatcher.stats.cache_path is None:
            line = "Setup, about 10 s in each process. To do it only once, set NUMBA_CACHE_DIR to a writable folder."
        else:
            line = "One-time setup, about 10 s."
        print(f"smallearn: {line}", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def notice_of_compiling(shown: bool = True) -> Iterator[None]:
    """Tell the user, once and only if ``shown``, if anything in this block has to be compiled first."""
    if not shown:
        yield
        return
    with event.install_listener("numba:compile", _Notice()):
        yield
