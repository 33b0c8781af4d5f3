"""``smallearn explain``: a model in words, or why a row was decided so."""

import argparse
from typing import Any

from smallearn._text import listed
from smallearn.cli.arguments import add_command, add_data, add_model, add_talk, row
from smallearn.cli.common import CommandError, print_json, read_model
from smallearn.cli.terminal import heading

EXAMPLES = """\
smallearn explain model.json
smallearn explain model.json data.csv
smallearn explain model.json data.csv --row 3
smallearn explain model.json data.csv --row 3 --changeable age --unit age=years
"""
MOST_CLASSES = 10  # of which each is told by conditions


def add(commands) -> None:
    """The command's arguments."""
    parser = add_command(
        commands,
        "explain",
        "a model in words; with --row, why a row was decided so and what would change that",
        "The model in words: its scores, rounded as far as no decision on DATA changes; the same as conditions, with\n"
        "how exactly they say it; and which features matter. With --row, one case: which score decided, what each\n"
        "term added, and the smallest changes that would change the decision.",
        EXAMPLES,
    )
    add_model(parser)
    add_data(parser, optional=True)
    parser.add_argument("--row", type=row, metavar="N", help="a row of DATA; the first below the header is 1")
    parser.add_argument("--target", metavar="COLUMN", help="the column of classes (the one that it was trained on)")
    parser.add_argument(
        "--changeable", action="append", metavar="COLUMN", help="a feature that can be changed; repeatable (all)"
    )
    add_units(parser)
    add_talk(parser)
    parser.set_defaults(run=run)


def add_units(parser: argparse.ArgumentParser) -> None:
    """``--unit NAME=UNIT``."""
    parser.add_argument(
        "--unit", action="append", default=[], metavar="COLUMN=UNIT", help="what a feature is measured in; repeatable"
    )


def units_of(given: argparse.Namespace, model: Any) -> dict[str, str]:
    """From features to their units, as given."""
    units = {}
    known = [term.label for term in model.features]
    for text in given.unit:
        name, sign, unit = text.rpartition("=")
        if not sign or not unit:
            raise CommandError(f"--unit {text} is not of the form COLUMN=UNIT, such as age=years")
        if name not in known:
            raise CommandError(f"--unit: the model does not use {name!r}; it uses {listed(known)}")
        units[name] = unit
    return units


def run(given: argparse.Namespace) -> int:
    """Read, explain, print."""
    model = read_model(given)
    units = units_of(given, model)
    if given.row is not None:
        if given.data is None:
            raise CommandError("--row needs a table: smallearn explain MODEL DATA --row N")
        return _explain_row(given, model, units)
    if given.changeable:
        raise CommandError("--changeable speaks of one case: name it with --row")
    X, y = _rows(given, model)
    parts = _parts(model, X, y, units, len(model.classes) if given.json else MOST_CLASSES)
    if given.json:
        print_json(_model_facts(model, *parts))
        return 0
    description, conditions, matters = parts
    sections = [("The model in words", str(description))]
    if conditions:
        same = all(one.exact or (one.fidelity == 1.0 and not one.imitates) for one in conditions)
        text = "\n".join(map(str, conditions))
        if len(model.classes) > max(2, MOST_CLASSES):
            text += f"\nThe other {len(model.classes) - MOST_CLASSES} classes are in what --json prints."
        sections.insert(0 if same else 1, ("The rule" if same else "Roughly, as conditions", text))
    if matters is not None:
        sections.append(("What matters", str(matters)))
    print("\n\n".join(f"{heading(title)}\n{text}" for title, text in sections))
    return 0


def _rows(given: argparse.Namespace, model: Any) -> tuple[Any, Any]:
    from smallearn.cli.io.tables import read_for

    if given.data is None:
        return None, None
    return read_for(model, given.data, target=given.target, labels=None, encoding=given.encoding, missing=given.missing)


def _parts(model: Any, X: Any, y: Any, units: dict[str, str], most: int) -> tuple[Any, list[Any], Any]:
    """The scores in words, conditions that say the same as far as there are any, and what matters. Only the rows that
    it was trained on may make conditions shorter than they are on every input."""
    from smallearn import explain
    from smallearn.explain._dnf.rule import conditions_of

    conditions = conditions_of(model, X, most, simplify=y is not None and model.was_trained_on(X, y))
    matters = None if y is None or not model.terms else explain.importance(model, X, y)
    return explain.describe(model, X, units=units), conditions, matters


def _explain_row(given: argparse.Namespace, model: Any, units: dict[str, str]) -> int:
    from smallearn import explain
    from smallearn.cli.io.tables import read_for

    X, _ = read_for(model, given.data, encoding=given.encoding, missing=given.missing)
    if given.row > len(X):
        raise CommandError(f"{given.data.name} has {len(X)} rows; there is no row {given.row}")
    try:
        case = explain.case(model, X.iloc[[given.row - 1]], X=X, changeable=given.changeable, units=units)
    except ValueError as problem:
        raise CommandError(str(problem).replace("changeable:", "--changeable:")) from None
    if given.json:
        print_json(_case_facts(given, case))
        return 0
    print(heading(f"Row {given.row} of {given.data.name}:") + f" {case}")
    return 0


def _model_facts(model: Any, description: Any, conditions: Any, matters: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "rule": description.rule,
        "prototypes": [
            {
                "class": model.classes[prototype.owner],
                "sentence": sentence,
                "card": [{"number": line.number, "for": line.text} for line in card],
            }
            for prototype, sentence, card in zip(
                model.prototypes, description.sentences, description.cards, strict=True
            )
        ],
        "conditions": [
            {
                "class": one.label,
                "clauses": [[condition.text for condition in clause] for clause in one.clauses],
                "exact": one.exact,
                "fidelity": one.fidelity,
            }
            for one in conditions
        ],
        "features": None,
    }
    if matters is not None:
        facts["features"] = [
            {"name": one.label, "lost_without": one.loss, "lost_by_shuffling": one.permuted} for one in matters.features
        ]
    return facts


def _case_facts(given: argparse.Namespace, case: Any) -> dict[str, Any]:
    def flip(found: Any) -> Any:
        if found is None:
            return None
        changes = [{"feature": one.label, "from": _plain(one.before), "to": _plain(one.after)} for one in found.changes]
        return {"class": found.label, "size": found.size, "changes": changes}

    return {
        "row": given.row,
        "prediction": case.prediction,
        "probability": case.probability,
        "prototype": case.prototype + 1,
        "scores": list(case.scores),
        "margin": case.margin,
        "constant": case.model.prototypes[case.prototype].intercept,
        "contributions": [
            {"term": part.term.text, "value": _plain(part.value), "points": part.points} for part in case.contributions
        ],
        "flips": {label: flip(found) for label, found in case.alone.items()},
        "smallest": flip(case.smallest),
    }


def _plain(value: Any) -> Any:
    """For JSON: numpy's numbers as Python's, what is missing as null."""
    value = value.item() if hasattr(value, "item") else value
    return None if value is None or value != value else value
