"""What the model costs on chips, and what is known of its training."""

from collections.abc import Sequence
from typing import Any

from smallearn._text import count, rounded_down, show
from smallearn.devices import ToolchainError, cost
from smallearn.evaluation import Evaluation
from smallearn.model import SMaLLModel
from smallearn.report._tables import Table

CHIPS = {
    "atmega328p": "ATmega328P (Arduino Uno), 16 MHz",
    "cortex-m0": "Cortex-M0, 48 MHz",
    "cortex-m4": "Cortex-M4 with FPU, 84 MHz",
}


def cost_of(model: SMaLLModel, chips: Sequence[str]) -> dict[str, Any] | None:
    lines, measured = [], []
    for chip in chips:
        for number in ("int8", "float32"):
            try:
                found = cost(model, chip, number, layout="best")
            except (ValueError, ToolchainError, OverflowError):
                continue
            about = "" if found.measured else "about "
            unit = "cycles" if found.cycles is not None else "instructions"
            lines.append(
                (
                    CHIPS.get(chip, chip),
                    number,
                    f"{about}{found.flash:,}",
                    f"{found.ram}",
                    f"{found.count:,} {unit}",
                    f"{found.time_us:.3g}",
                )
            )
            measured.append(found.measured)
    if not lines:
        return None
    how = "compiled and run in a simulator" if all(measured) else "estimated, where the chip's tools are not at hand"
    head = ("chip", "numbers", "bytes of flash", "bytes of RAM", "one prediction, at most", "µs")
    return {
        "words": f"What one prediction takes on small chips, {how}.",
        "table": Table("Cost on chips", head, lines, (2, 3, 4, 5)),
    }


def training_of(model: SMaLLModel, judged: Evaluation | None, source: str | None) -> Table:
    lines: list[tuple[str, str]] = []
    data, facts, kept = model.data, model.training, model.selection
    if data is not None:
        if data.source is not None:
            lines.append(("trained on", show(data.source, quote=False)))
        if data.target is not None:
            lines.append(("classes from column", show(data.target, quote=False)))
        pairs = zip(model.classes, data.class_counts, strict=True)
        lines.append(
            (
                "training rows",
                f"{sum(data.class_counts)}: " + ", ".join(f"{count(n, 'row')} of {show(c)}" for c, n in pairs),
            )
        )
        lines.append(("fingerprint of the rows", data.fingerprint))
    if judged is not None:
        same = "the training rows" if judged.is_training_data else "not the table of training" if data else "unknown"
        name = "" if source is None else f"{show(source, quote=False)}, "
        lines.append(("rows on this page", f"{name}{judged.n_rows}: {same}"))
    if kept is not None:
        lines.append(
            ("chosen by", f"cross-validation ({kept.metric}), {len(kept.scores)} folds, at most {kept.max_terms} terms")
        )
    if facts is not None:
        gap = "proven optimal" if facts.certified else f"gap {facts.optimality_gap:.1%}"
        lines.append(
            (
                "certificate",
                f"training objective {facts.objective:.4g}; {facts.rivals} is below {rounded_down(facts.lower_bound)} "
                f"({gap}), for the final assignment of rows to prototypes. It says nothing of accuracy.",
            )
        )
        lines.append(("ridge penalty λ", f"{facts.alpha:g}"))
        lines.append(("trained by", f"smallearn {facts.smallearn}"))
    for extent in model.ranges:
        label = next(show(term.label, quote=False) for term in model.features if term.feature == extent.feature)
        lines.append((f"range of {label}", f"{extent.low:.6g} to {extent.high:.6g}"))
    return Table("Facts of the training", ("fact", "value"), lines or [("nothing", "is known of the training")])
