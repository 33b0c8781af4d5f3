"""``smallearn explain``: a model in plain words, or why it decided as it did for one row."""

import argparse
from dataclasses import dataclass, field
from typing import Any

from smallearn._text import percent, show
from smallearn.cli.arguments import (
    add_command,
    add_data,
    add_describe,
    add_model,
    add_printing,
    add_target,
    add_units,
    described,
    row_number,
    units_of,
)
from smallearn.cli.console import Console, heading
from smallearn.cli.errors import CommandError, ExitCode, library_errors
from smallearn.cli.io.files import print_json, read_model
from smallearn.cli.reading import read_rows
from smallearn.cli.reason_codes import add_reason_codes, note_wordless, reason_codes_of
from smallearn.cli.score_card import add_score_card, check_score_card, print_score_card

DESCRIPTION = """\
The model in words: its scores, rounded as far as no prediction on DATA changes; a rule that says the same, and how
exactly; and which features matter. With --row, one case: the score that decided, what each term contributed, and the
smallest changes that would change the class; if asked for, reason codes. With --card, a model of conditions as a score
card, scaled as credit files are if asked for. Of more than 200,000 rows of DATA a random
sample serves.

--set tries out another value. Without --row the case is made of the values that are set; features that are not set have
typical values: the median or the most frequent value in DATA, or without DATA about that in training.
"""
EXAMPLES = """\
smallearn explain model.json
smallearn explain model.json data.csv
smallearn explain model.json data.csv --row 3
smallearn explain model.json data.csv --row 3 --set age=40
smallearn explain model.json --set age=40
smallearn explain model.json data.csv --row 3 --changeable age --unit age=years
smallearn explain model.json data.csv --row 3 --wording wording.csv
smallearn explain card.json --card
smallearn explain card.json data.csv --card --scaling pdo --points 600 --odds 50 --pdo 20 --digits 0
smallearn explain card.json --card --scaling min_max --low 0 --high 100
smallearn explain model.json data.csv --row 3 --reason-codes 2 --favourable no
smallearn explain model.json data.xlsx --sheet May --target y --describe features.csv
smallearn explain model.json data.csv --encoding cp1252 --missing 999 --quiet --json
"""
MOST_CLASSES = 10  # whose rules are printed


def add(commands) -> argparse.ArgumentParser:
    """Add the command's parser."""
    parser = add_command(
        commands,
        "explain",
        summary="a model in plain words; with --row, why one row got its class and what would change it",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    add_model(parser)
    add_data(parser, optional=True)
    add_target(parser)
    add_units(parser)
    add_describe(parser)
    case = parser.add_argument_group("one row, or a case")
    case.add_argument("--row", type=row_number, metavar="N", help="a row of DATA; the first below the header is 1")
    case.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="COLUMN=VALUE",
        help="another value of a feature, in the row or in a typical case; repeatable (COLUMN= if it is missing)",
    )
    case.add_argument(
        "--changeable",
        action="append",
        metavar="COLUMN",
        help="a feature that can be changed; repeatable (default: all features)",
    )
    add_reason_codes(case, "with --row: ")
    add_score_card(parser)
    add_printing(parser)
    return parser


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Read, explain, print."""
    model = read_model(arguments)
    model = described(arguments, model)
    units = units_of(arguments, model)
    check_score_card(arguments)
    if arguments.card:
        print_score_card(arguments, model, console)
        return ExitCode.DONE
    if arguments.row is not None:
        if arguments.data is None:
            raise CommandError("--row needs a table: smallearn explain MODEL DATA --row N")
        return _explain_row(arguments, model, units, console)
    if arguments.set:
        return _explain_typical(arguments, model, units, console)
    if arguments.changeable:
        raise CommandError("--changeable is for one row: name it with --row, or describe it with --set")
    if reason_codes_of(arguments, model):
        raise CommandError("reason codes are for one row: name it with --row, or describe it with --set")
    return _explain_model(arguments, model, units, console)


# --- the model -------------------------------------------------------------------------------------------------------


def _explain_model(arguments: argparse.Namespace, model: Any, units: dict[str, str], console: Console) -> int:
    from smallearn import explain
    from smallearn.cli.io.model_rows import Labels
    from smallearn.evaluation._tally import Recognition
    from smallearn.explain._dnf.rule import conditions_of
    from smallearn.model._arguments import read_rows as gathered
    from smallearn.model._words import in_words, renamed, words_of

    rows, y, drawn = None, None, None
    recognition = Recognition(model)
    if arguments.data is not None:
        with library_errors(arguments):
            read = read_rows(
                arguments,
                model,
                labels=Labels.OPTIONAL,
                watch=lambda X, code, _: recognition.add(X, code),
                console=console,
            )
        rows, y = gathered(model, read.X), read.y
        drawn = (len(read.X), read.n_rows) if read.is_sample else None
    if not arguments.json:
        words = words_of(model, {one.name: one for one in model.descriptions})
        model, units = in_words(model, words), {words[name]: unit for name, unit in units.items()}
        rows = None if rows is None else renamed(rows, model.features)
    most = len(model.classes) if arguments.json else MOST_CLASSES
    # Only the training rows may make a rule shorter than it is for every possible input.
    simplify = y is not None and recognition.is_training_data
    description = explain.describe(model, rows, units=units)
    rules = conditions_of(model, rows, most, simplify=simplify)
    importance = None if y is None or not model.terms else explain.importance(model, rows, y)
    if arguments.json:
        print_json(_model_facts(model, description, rules, importance) | {"sampled_rows": drawn and drawn[0]})
        return ExitCode.DONE
    sections = [("The model in words", str(description))]
    if rules:
        same = all(rule.exact or (rule.fidelity == 1.0 and not rule.imitates) for rule in rules)
        text = "\n".join(map(str, rules))
        if len(model.classes) > max(2, MOST_CLASSES):
            text += f"\nThe rules of the other {len(model.classes) - MOST_CLASSES} classes: use --json."
        sections.insert(0 if same else 1, ("The rule" if same else "Approximate rule", text))
    if importance is not None:
        sections.append(("What matters", str(importance)))
    if drawn is not None:
        text = f"All that depends on rows is that of {drawn[0]:,} drawn at random from {drawn[1]:,}."
        sections.append(("Rows", text))
    print("\n\n".join(f"{heading(title)}\n{text}" for title, text in sections))
    return ExitCode.DONE


def _model_facts(model: Any, description: Any, rules: Any, importance: Any) -> dict[str, Any]:
    """The result, for scripts."""
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
                "class": rule.label,
                "clauses": [[condition.text for condition in clause] for clause in rule.clauses],
                "exact": rule.exact,
                "fidelity": rule.fidelity,
            }
            for rule in rules
        ],
        "features": None,
    }
    if importance is not None:
        facts["features"] = [
            {"name": one.label, "lost_without": one.loss, "lost_by_shuffling": one.permuted}
            for one in importance.features
        ]
    return facts


# --- one row ---------------------------------------------------------------------------------------------------------


def _explain_row(arguments: argparse.Namespace, model: Any, units: dict[str, str], console: Console) -> int:
    """A row of the table, perhaps with other values."""
    from smallearn.cli.io.given_values import given_values, values_text
    from smallearn.cli.io.model_rows import Labels

    found = []

    def watch(X: Any, _: Any, number: Any) -> None:
        if number[0] < arguments.row <= number[-1] + 1:
            found.append(X.iloc[[arguments.row - 1 - number[0]]])

    rows = read_rows(arguments, model, labels=Labels.IGNORED, watch=watch, console=console)
    if not found:
        raise CommandError(f"{arguments.data.name} has {rows.n_rows} rows; there is no row {arguments.row}")
    row, title = found[0], f"Row {arguments.row} of {arguments.data.name}"
    if not arguments.set:
        return _explain_case(arguments, model, units, console, _Question(row, title, rows.X))
    changed = given_values(model, arguments.set, rows.X)
    before = {name: row[name].iloc[0] for name in changed}
    after = row.assign(**{name: [value] for name, value in changed.items()})
    title = f"{title} with {values_text(changed)}"
    remark = f"As it is in the table, with {values_text(before)}: {_decision(model, row)}."
    facts = {"set": {name: _plain(value) for name, value in changed.items()}}
    return _explain_case(arguments, model, units, console, _Question(after, title, rows.X, remark, changed, facts))


def _explain_typical(arguments: argparse.Namespace, model: Any, units: dict[str, str], console: Console) -> int:
    """A case of given values, and of typical ones where none are given."""
    from smallearn.cli.io.given_values import case_of, given_values, typical_values, values_text
    from smallearn.cli.io.model_rows import Labels
    from smallearn.cli.io.tables import need_tables

    need_tables()
    X = None
    if arguments.data is not None:
        X = read_rows(arguments, model, labels=Labels.IGNORED, console=console).X
    changed = given_values(model, arguments.set, X)
    others = [term.label for term in model.features if term.label not in changed]
    typical = typical_values(model, others, X)
    remark = None
    if typical:
        place = "training" if X is None else arguments.data.name
        where = f"the median or most frequent value in {place}"
        remark = f"Typical values, {where}: {values_text(typical)}."
    row = case_of(model, {**typical, **changed})
    facts = {
        "set": {name: _plain(value) for name, value in changed.items()},
        "typical": {name: _plain(value) for name, value in typical.items()},
    }
    question = _Question(row, f"A case with {values_text(changed)}", X, remark, changed, facts)
    return _explain_case(arguments, model, units, console, question)


def _decision(model: Any, row: Any) -> str:
    """The class of a row and its probability."""
    from smallearn import explain

    case = explain.case(model, row, changeable=[])
    return f"{show(case.prediction)}, with probability {percent(case.probability)}"


@dataclass(frozen=True)
class _Question:
    """A case to explain: the row, its title, rows that show what values exist, a remark, what was set, and facts."""

    row: Any
    title: str
    X: Any
    remark: str | None = None
    changed: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


def _explain_case(
    arguments: argparse.Namespace, model: Any, units: dict[str, str], console: Console, question: _Question
) -> int:
    from smallearn import explain
    from smallearn.cli.io.given_values import notes_on_range

    for text in notes_on_range(model, question.changed):
        console.note(text)
    options = reason_codes_of(arguments, model)
    codes: list[str] = []
    with library_errors(arguments):
        case = _case(arguments, model, units, question)
        if options:
            named = explain.reason_codes(model, question.row, options.pop("reason_codes"), **options)[0]
            codes = [words for words in named if words is not None]
            note_wordless(arguments, model, options, console)
    if arguments.json:
        codes_facts = {"reason_codes": codes} if options else {}
        print_json(_case_facts(arguments, case) | question.facts | codes_facts)
        return ExitCode.DONE
    print(heading(f"{question.title}:") + f" {case}")
    if question.remark is not None:
        print(f"\n{question.remark}")
    if options:
        wanted = show(model.classes[1] if options["favourable"] is None else options["favourable"])
        lines = [f"  {place + 1}. {words}" for place, words in enumerate(codes)] or ["  nothing"]
        print("\n".join([f"\nWhat held {wanted} back most:", *lines]))
    return ExitCode.DONE


def _case(arguments: argparse.Namespace, model: Any, units: dict[str, str], question: _Question) -> Any:
    """The case explained; in text, features are called by the words of their descriptions."""
    from smallearn import explain
    from smallearn.model._words import in_words, words_of

    words = {} if arguments.json else words_of(model, {one.name: one for one in model.descriptions})
    changeable, X = arguments.changeable, question.X
    if set(words) == set(words.values()) or not hasattr(question.row, "rename"):
        return explain.case(model, question.row, X=X, changeable=changeable, units=units)
    return explain.case(
        in_words(model, words),
        question.row.rename(columns=words),
        X=None if X is None else X.rename(columns=words),
        changeable=None if changeable is None else [words.get(name, name) for name in changeable],
        units={words[name]: unit for name, unit in units.items()},
    )


def _case_facts(arguments: argparse.Namespace, case: Any) -> dict[str, Any]:
    """The result, for scripts."""

    def flip_facts(flip: Any) -> Any:
        if flip is None:
            return None
        changes = [{"feature": one.label, "from": _plain(one.before), "to": _plain(one.after)} for one in flip.changes]
        return {"class": flip.label, "size": flip.size, "changes": changes}

    return {
        "row": arguments.row,
        "prediction": case.prediction,
        "probability": case.probability,
        "prototype": case.prototype + 1,
        "scores": list(case.scores),
        "margin": case.margin,
        "constant": case.model.prototypes[case.prototype].intercept,
        "contributions": [
            {"term": part.term.text, "value": _plain(part.value), "points": part.points} for part in case.contributions
        ],
        "flips": {label: flip_facts(flip) for label, flip in case.alone.items()},
        "smallest": flip_facts(case.smallest),
    }


def _plain(value: Any) -> Any:
    """For JSON: numpy's numbers as Python's, a missing value as null."""
    value = value.item() if hasattr(value, "item") else value
    return None if value is None or value != value else value
