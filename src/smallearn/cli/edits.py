"""The changes that ``smallearn edit`` is told of, from the texts of its options."""

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from smallearn._text import listed, show
from smallearn.cli.errors import CommandError
from smallearn.model import Editor, SMaLLModel

SIGNS = {"≤": "at_most", "<=": "at_most", ">": "above", "=": "equals"}
MISSING = "is missing"


def add_edits(command: argparse.ArgumentParser) -> None:
    """The options that change a model; ``arguments.steps`` has them in the order in which they were given."""
    parser = command.add_argument_group("changes")
    for option, (metavar, help_text, _) in STEPS.items():
        parser.add_argument(
            option,
            dest="steps",
            action="append",
            default=[],
            type=_labelled(option),
            metavar=metavar,
            help=help_text + ("" if option == "--threshold" else "; repeatable"),
        )


def _labelled(option: str) -> Callable[[str], tuple[str, str]]:
    return lambda text: (option, text)


def changed_by_steps(editor: Editor, steps: Sequence[tuple[str, str]]) -> SMaLLModel:
    """The model after all steps, each of which may fail with a sentence for the user."""
    for option, text in steps:
        _, _, change = STEPS[option]
        try:
            editor = change(editor, text)
        except ValueError as error:
            raise CommandError(f"{option} {show(text)}: {error}") from None
    return editor.model


# --- a step each -----------------------------------------------------------------------------------------------------


def _cut(editor: Editor, text: str) -> Editor:
    feature, sign, cuts = text.rpartition("=")
    old, colon, new = cuts.partition(":")
    if not sign or not colon:
        raise ValueError("not of the form FEATURE=OLD:NEW, such as age=40:45.")
    return editor.change_cut(feature.strip(), _number(old), _number(new))


def _weight(editor: Editor, text: str) -> Editor:
    term, number = _term_and_number(text)
    score, term = _score_and_term(editor, term)
    return editor.set_weight(term, number, score=score)


def _constant(editor: Editor, text: str) -> Editor:
    score, sign, number = text.rpartition("=")
    if sign and not score.strip().isdecimal():
        raise ValueError("not of the form SCORE=NUMBER, such as 1=-2, or NUMBER if there is one score.")
    return editor.set_constant(_number(number), score=int(score) if sign else None)


def _threshold(editor: Editor, text: str) -> Editor:
    return editor.set_threshold(_number(text))


def _drop(editor: Editor, text: str) -> Editor:
    score, term = _score_and_term(editor, text)
    return editor.drop(term, score=score)


def _forbid(editor: Editor, text: str) -> Editor:
    return editor.forbid(text)


def _add(editor: Editor, text: str) -> Editor:
    """``[feature sign value]=weight``, or ``feature=weight`` for the feature itself; with ``SCORE:`` before it."""
    term, number = _term_and_number(text)
    score = None
    begin, colon, rest = term.partition(":")
    if colon and begin.strip().isdecimal() and (rest.strip().startswith("[") or rest.strip() in _labels(editor)):
        score, term = int(begin), rest
    term = term.strip()
    if not (term.startswith("[") and term.endswith("]")):
        return editor.add(term, weight=number, score=score)
    feature, condition = _condition(editor, term[1:-1].strip())
    return editor.add(feature, weight=number, score=score, **condition)


STEPS: dict[str, tuple[str, str, Callable[[Editor, str], Editor]]] = {
    "--cut": ("FEATURE=OLD:NEW", "change a cut of a feature, such as age=40:45", _cut),
    "--weight": ("TERM=NUMBER", "set the weight of a term, such as '[age > 45]=1.5'; a refit keeps it", _weight),
    "--constant": ("[SCORE=]NUMBER", "set the constant of a score, such as 1=-2; a refit keeps it", _constant),
    "--threshold": ("P", "set the probability above which the second of two classes is predicted", _threshold),
    "--drop-term": ("TERM", "drop a term, such as \"[ward = 'A']\"", _drop),
    "--add": ("TERM=NUMBER", "add a term with this weight, such as '[bmi > 30]=0.5'; a refit keeps it", _add),
    "--forbid": ("FEATURE", "drop all terms of a feature, and let a refit add none", _forbid),
}


# --- texts -----------------------------------------------------------------------------------------------------------


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{show(text)} is not a number.") from None


def _term_and_number(text: str) -> tuple[str, float]:
    term, sign, number = text.rpartition("=")
    if not sign or term.count("[") > term.count("]"):  # the sign is that of a condition
        raise ValueError("not of the form TERM=NUMBER, such as '[age > 45]=1.5'.")
    return term.strip(), _number(number)


def _score_and_term(editor: Editor, text: str) -> tuple[int | None, str]:
    """``2:[age > 45]`` is the term in score 2, unless a term reads so."""
    begin, colon, rest = text.partition(":")
    if not colon or not begin.strip().isdecimal():
        return None, text
    try:
        editor.find(text)
    except ValueError:
        return int(begin), rest
    return None, text


def _labels(editor: Editor) -> list[str]:
    return [f"x{position}" if name is None else name for position, name in editor.known]


def _condition(editor: Editor, text: str) -> tuple[str, dict[str, Any]]:
    """The feature and the condition of a literal; names of features may hold any sign, so that these come first."""
    for label in sorted(_labels(editor), key=len, reverse=True):
        if not text.startswith(label):
            continue
        rest = text[len(label) :].strip()
        if rest == MISSING:
            return label, {"missing": True}
        for sign, kind in SIGNS.items():
            value = rest.removeprefix(sign).strip()
            if rest.startswith(sign) and value:
                return label, {kind: _category(value) if kind == "equals" else _number(value)}
        if rest:
            break
    raise ValueError(
        "a condition is 'FEATURE > NUMBER', 'FEATURE <= NUMBER', 'FEATURE = VALUE' or 'FEATURE is missing', of the "
        f"features {listed(_labels(editor)[:20])}; name DATA to add terms of its other columns."
    )


def _category(text: str) -> Any:
    """Text in quotes, true or false, a number, or text."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if text in ("True", "False"):
        return text == "True"
    try:
        return float(text)
    except ValueError:
        return text
