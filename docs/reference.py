"""The pages of the reference, made from `__all__` of every public module when the documentation is built."""

from importlib import import_module
from pathlib import Path

MODULES = {
    "smallearn": ("Estimators and models", "Train, choose, load."),
    "smallearn.model": (
        "The model and its parts",
        "What a trained model is made of: plain records that need NumPy alone.",
    ),
    "smallearn.evaluation": ("Scores and monitoring", "How good a model is on rows, and how far new rows have moved."),
    "smallearn.explain": ("Explanations", "A model and its decisions in words."),
    "smallearn.plot": ("Pictures", "Drawn with matplotlib (extra `plot`)."),
    "smallearn.report": ("The report", "One HTML page about a model (extra `report`)."),
    "smallearn.export": ("Exports", "A model in other languages. The functions take a model or a fitted estimator."),
    "smallearn.devices": ("Chips", "What a model costs on a chip (extra `devices`, and compilers)."),
    "smallearn.tables": ("Tables larger than memory", "Files that are converted once and mapped into memory."),
    "smallearn.dask": ("Dask", "The same classifiers for rows on a cluster (extra `dask`)."),
    "smallearn.datasets": ("Data with a known answer", "Made for tests, examples and benchmarks."),
}
HEADING = """\
# Reference

Every public name, with an example that the tests run. Names that begin with an underscore, and modules whose docstring
begins with "Internal", may change at any time. The command line is described in [commands](../commands.md).
"""


def names(module: str) -> list[str]:
    """The public names of a module that have their page here: not those that another module has shown before."""
    shown = set() if module == "smallearn" else {id(_get("smallearn", name)) for name in names("smallearn")}
    return [
        name
        for name in import_module(module).__all__
        if not name.startswith("__") and id(_get(module, name)) not in shown
    ]


def _get(module: str, name: str) -> object:
    return getattr(import_module(module), name)


def write(folder: Path) -> None:
    """Write the page that lists all names; the pages of the names are autosummary's."""
    folder.mkdir(exist_ok=True)
    parts = [HEADING]
    for module, (title, text) in MODULES.items():
        listing = "\n".join(f"   {name}" for name in names(module))
        table = (
            f".. currentmodule:: {module}\n\n.. autosummary::\n   :toctree: generated\n   :nosignatures:\n\n{listing}"
        )
        parts.append(f"## {title}\n\n`{module}`. {text}\n\n```{{eval-rst}}\n{table}\n```\n")
    page, text = folder / "index.md", "\n".join(parts)
    if not page.exists() or page.read_text(encoding="utf-8") != text:  # an unchanged page is not built again
        page.write_text(text, encoding="utf-8")
