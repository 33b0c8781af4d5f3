"""Every public name has a page in the reference and an example that runs."""

import doctest
import importlib
import inspect
import pkgutil
import sys
from pathlib import Path

import pytest

import smallearn

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import reference  # noqa: E402

sys.path.pop(0)


def public_modules():
    """Smallearn and the packages in it, but those whose docstring begins with "Internal"."""
    found = [f"smallearn.{one.name}" for one in pkgutil.iter_modules(smallearn.__path__) if one.ispkg]
    names = [name for name in found if not name.rpartition(".")[2].startswith("_")]
    modules = [smallearn, *map(importlib.import_module, names)]
    return [one.__name__ for one in modules if not one.__doc__.startswith("Internal")]


def public_names():
    return [(module, name) for module in public_modules() for name in importlib.import_module(module).__all__]


def examples(text, name):
    """The lines of the examples of a docstring that run."""
    parsed = doctest.DocTestParser().get_examples(text or "", name)
    return [one.source for one in parsed if not one.options.get(doctest.SKIP)]


def test_the_reference_has_every_public_module():
    assert sorted(reference.MODULES) == sorted(public_modules())


@pytest.mark.parametrize("module", public_modules())
def test_the_reference_has_every_public_name_once(module):
    shown = {
        id(getattr(importlib.import_module(one), name)) for one in reference.MODULES for name in reference.names(one)
    }
    names = [name for name in importlib.import_module(module).__all__ if not name.startswith("__")]
    assert names
    assert [name for name in names if id(getattr(importlib.import_module(module), name)) not in shown] == []


@pytest.mark.parametrize(("module", "name"), public_names(), ids=lambda text: text)
def test_a_public_name_has_an_example(module, name):
    thing = getattr(importlib.import_module(module), name)
    if inspect.isclass(thing) or inspect.isfunction(thing):
        assert Path(inspect.getsourcefile(thing)).is_relative_to(ROOT / "src"), "where pytest looks for examples"
        assert "Examples\n" in inspect.getdoc(thing)
        assert examples(inspect.getdoc(thing), name)
    else:  # data have no docstring of their own
        lines = examples(importlib.import_module(module).__doc__, name)
        assert any(name in line for line in lines), f"the docstring of {module} has no example of {name}"
