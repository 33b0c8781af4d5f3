"""The notice that the first fit compiles."""

from types import SimpleNamespace

import pytest

from smallearn._learn import kernels
from smallearn._learn.compiling import _Notice, notice_of_compiling


def compile_event(function, cache_path):
    stats = SimpleNamespace(cache_path=cache_path)
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function, stats=stats)})


@pytest.mark.parametrize(
    ("cache_path", "words"),
    [("/somewhere", "One-time setup, about 10 s."), (None, "set NUMBA_CACHE_DIR to a writable folder.")],
)
def test_the_first_kernel_is_announced_and_no_other(cache_path, words, capsys):
    notice = _Notice()
    for function in (len.__class__, kernels.softmax_residual.py_func, kernels.conjugate_of.py_func):
        notice.on_start(compile_event(function, cache_path))
        notice.on_end(compile_event(function, cache_path))
    line, *others = capsys.readouterr().err.splitlines()
    assert line.startswith("smallearn: ")
    assert line.endswith(words)
    assert others == []


def test_a_notice_that_is_not_wanted_leaves_no_listener(monkeypatch):
    installed = []
    monkeypatch.setattr("smallearn._learn.compiling.event.install_listener", lambda *names: installed.append(names))
    with notice_of_compiling(False):
        pass
    assert not installed
