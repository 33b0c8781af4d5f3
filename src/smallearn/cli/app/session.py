"""What one visit to the page has: the tables that were given, and the models that were made of them."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from smallearn.cli.app.setup import Setup, TableFacts
from smallearn.cli.errors import CommandError
from smallearn.cli.io.files import TABLE_ENDINGS, as_text
from smallearn.cli.io.tables import ReadOptions
from smallearn.model import SMaLLModel


@dataclass(frozen=True)
class ModelEntry:
    """A model that was made: itself, its page, how it was made, and what the page says of it."""

    number: int
    name: str
    setup: Setup
    model: SMaLLModel
    page: str
    facts: dict[str, Any]
    parent: int | None = None


class Session:
    """Tables and models by their numbers, from 1.

    Parameters
    ----------
    folder : Path
        Where uploads are kept; nothing else is written.
    options : ReadOptions
        How tables are read, unless the page says otherwise.
    limit : float
        The most seconds that a fit may take.
    """

    def __init__(self, folder: Path, options: ReadOptions, limit: float):
        self.folder, self.options, self.limit = folder, options, limit
        self.tables: dict[int, TableFacts] = {}
        self.models: dict[int, ModelEntry] = {}

    # --- tables ----------------------------------------------------------------------------------------------------

    def add_table(self, path: Path, name: str) -> int:
        """Note a table that can be read; its number."""
        number = len(self.tables) + 1
        self.tables[number] = TableFacts(path=path, name=name, options=self.options)
        return number

    def path_of_upload(self, name: str) -> Path:
        """Where an upload with this name is written: the name's ending says what it is, and nothing more is used."""
        plain = as_text(name).replace("\\", "/").rpartition("/")[2]
        suffixes = [suffix.lower() for suffix in Path(plain).suffixes[-2:]]
        packed = suffixes[-1:] == [".gz"]
        kind = (suffixes[:-1] if packed else suffixes)[-1:]
        if not kind or kind[0] not in TABLE_ENDINGS:
            raise CommandError(
                f"{plain or 'this file'} is not a table in a known format; the page takes files that end in "
                f"{', '.join(TABLE_ENDINGS)}, those of text also with .gz"
            )
        return self.folder / f"table-{len(self.tables) + 1}{kind[0]}{'.gz' if packed else ''}"

    def table(self, number: Any, options: ReadOptions | None = None) -> TableFacts:
        """The table with this number, from now on read as ``options`` say."""
        found = self.tables.get(number) if type(number) is int else None
        if found is None:
            raise CommandError(f"there is no table {number}")
        if options is not None:
            found = self.tables[number] = replace(found, options=options)
        return found

    # --- models ----------------------------------------------------------------------------------------------------

    def add_model(self, setup: Setup, answer: dict[str, Any], name: str, parent: int | None = None) -> dict[str, Any]:
        """Note a model that a job has made; what the page is told of it."""
        number = len(self.models) + 1
        facts = {key: value for key, value in answer.items() if key not in ("model", "page")}
        entry = ModelEntry(
            number=number,
            name=f"{number}: {name}",
            setup=setup,
            model=SMaLLModel.from_json(answer["model"]),
            page=answer["page"],
            facts=facts,
            parent=parent,
        )
        self.models[number] = entry
        return self.facts_of(entry)

    def model(self, number: Any) -> ModelEntry:
        """The model with this number."""
        found = self.models.get(number) if type(number) is int else None
        if found is None:
            raise CommandError(f"there is no model {number}")
        return found

    def facts_of(self, entry: ModelEntry) -> dict[str, Any]:
        """What the page is told of a model; ``thresholds`` are those of each size."""
        every = (*entry.model.frontier_models, entry.model)
        sizes = {one.n_terms: one.decision_threshold for one in every}
        return {
            **entry.facts,
            "number": entry.number,
            "name": entry.name,
            "parent": entry.parent,
            "table": entry.setup.table.name,
            "target": entry.setup.target,
            "command": entry.setup.command(),
            "sizes": sorted(sizes),
            "thresholds": sizes if len(entry.model.classes) == 2 else None,
            "terms": {one.n_terms: _terms(one) for one in every},
        }

    def facts(self) -> dict[str, Any]:
        """What the page is told when it opens."""
        return {
            "tables": [{"number": number, "name": table.name} for number, table in self.tables.items()],
            "models": [self.facts_of(entry) for entry in self.models.values()],
            "limit": self.limit,
        }


def _terms(model: SMaLLModel) -> list[dict[str, Any]]:
    """The different terms of a model, each with its cut if it has one."""
    terms = {term.text: term for term in model.terms}
    cuts = ("at_most", "above")
    return [
        {"text": text, "feature": term.label, "cut": term.value if term.kind in cuts else None}
        for text, term in terms.items()
    ]
