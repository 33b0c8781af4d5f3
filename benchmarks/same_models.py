"""``make same-models BASE=revision``: does a change leave every model and every export as it was?

The fits below (dense, sparse, literals, categories, several classes, weights, costs, a score card, the paper's preset,
choices by cross-validation and for a chip, the frontier) are run with this tree and with another Git revision, each in
its own process. Their JSON and fitted attributes must be equal, and so must their exports. The version, the hash of the
model and comments may differ.
"""

import argparse
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
JSON_VERSION = re.compile(r'"smallearn": *"[^"]*"')
VERSION = re.compile(r"smallearn \d[\w.+-]*")
C_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
SQL_COMMENT = re.compile(r"/\*.*?\*/|--[^\n]*", re.DOTALL)
ATTRIBUTES = (
    *("classes_", "intercepts_", "support_", "prototype_classes_", "objective_", "lower_bound_", "optimality_gap_"),
    *("duality_gap_", "n_iter_", "n_relaxations_", "n_terms_", "number_", "best_params_", "best_score_", "best_index_"),
)


# --- the fits --------------------------------------------------------------------------------------------------------


def fits() -> Iterator[tuple[str, Any]]:
    """The name of each fit, and the fitted estimator or the model."""
    import pandas as pd
    from scipy import sparse
    from sklearn.datasets import load_breast_cancer, load_iris

    from smallearn import SMaLLClassifier, SMaLLClassifierCV, datasets, frontier

    X, y = load_breast_cancer(return_X_y=True)
    flowers, kinds = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    gaps = X.copy()
    gaps[rng.random(X.shape) < 0.05] = np.nan
    counts = rng.poisson(0.3, (400, 40)).astype(float)
    spam = (counts[:, :3].sum(axis=1) + 0.3 * rng.normal(size=400) > 1.0).astype(int)
    letters, wins = datasets.tic_tac_toe(one_hot=False, return_X_y=True)
    board = pd.DataFrame(letters[::2], columns=[f"square {place}" for place in range(9)])
    table = pd.DataFrame({"age": X[:, 0], "colour": np.where(X[:, 1] > 19.0, "red", "blue"), "size": X[:, 2]})
    weight = rng.integers(0, 3, len(y)).astype(float)

    yield "dense", SMaLLClassifier(2, 3, random_state=0).fit(X, y)
    yield "certified", SMaLLClassifier(1, 4, certify=True, local_search=True).fit(X[:, :10], y)
    yield "sparse", SMaLLClassifier(2, 4, literals="both", random_state=0).fit(sparse.csr_array(counts), spam)
    yield "literals", SMaLLClassifier(2, 4, literals="both", assignment="auto", n_init=2, random_state=0).fit(gaps, y)
    table_fit = SMaLLClassifier(1, 3, literals="both", categorical_features="from_dtype", random_state=0)
    yield "categories", table_fit.fit(table, np.where(y, "benign", "malignant"))
    yield "classes", SMaLLClassifier(2, 2, random_state=0).fit(flowers, kinds)
    yield "weights", SMaLLClassifier(2, 3, class_weight="balanced", random_state=0).fit(X, y, sample_weight=weight)
    priced = SMaLLClassifier(
        2,
        budget="total",
        feature_costs={0: 3.0},
        max_cost=6.0,
        monotonic_cst={1: -1},
        positive_class="auto",
        random_state=0,
    )
    yield "costs", priced.fit(X, y)
    yield "card", SMaLLClassifier(1, 5, literals="both", max_points=5, random_state=0).fit(X, y)
    yield "paper", SMaLLClassifier.paper_preset(n_prototypes=2, n_nonzero=3, random_state=0).fit(X, y)
    yield "chosen", SMaLLClassifierCV(6, random_state=0, cv=3).fit(X[::2], y[::2])
    yield (
        "rules",
        SMaLLClassifierCV(12, n_prototypes=[1, 4], categorical_features="from_dtype", random_state=0, cv=2).fit(
            board, wins[::2]
        ),
    )
    yield "device", SMaLLClassifierCV(4, device="atmega328p", max_flash=120, random_state=0, cv=2).fit(X[::2], y[::2])
    for point in frontier(flowers[:, :3], kinds, 4, cv=2, random_state=0):
        yield f"frontier-{point.n_terms}", point.model


# --- what is compared ------------------------------------------------------------------------------------------------


def record(folder: Path) -> None:
    """Write a file for each fit: its JSON, fitted attributes and exports."""
    import smallearn

    print(f"  smallearn from {Path(smallearn.__file__).parent}", flush=True)
    for name, fitted in fits():
        model = getattr(fitted, "model_", fitted)
        values = {key: _plain(getattr(fitted, key)) for key in ATTRIBUTES if hasattr(fitted, key)}
        parts = {"json": JSON_VERSION.sub("", model.to_json()), "attributes": values, "exports": dict(_exports(model))}
        (folder / f"{name}.json").write_text(json.dumps(parts, indent=1, default=str), encoding="utf-8")
        print(f"  {name}", flush=True)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _exports(model: Any) -> Iterator[tuple[str, str]]:
    from smallearn.export import to_arduino, to_c, to_javascript, to_onnx, to_python, to_rust, to_sql
    from smallearn.export._sql.dialects import DIALECTS

    digest = hashlib.sha256(model.to_json().encode("utf-8", "surrogatepass")).hexdigest()[:12]

    def attempt(write: Callable[[], str], strip: Callable[[str], str]) -> str:
        """The export without what may differ, or the kind of the error where there is none."""
        try:
            return VERSION.sub("", strip(write())).replace(digest, "")
        except (TypeError, ValueError) as error:
            return type(error).__name__

    for number in ("float32", "float64", "int8", "int16"):
        for layout in ("code", "table"):
            yield (
                f"c {number} {layout}",
                attempt(lambda n=number, form=layout: to_c(model, n, layout=form), _no_c_comments),
            )
    for dialect in DIALECTS:
        yield f"sql {dialect}", attempt(lambda d=dialect: to_sql(model, d), lambda text: SQL_COMMENT.sub("", text))
    yield "python", attempt(lambda: to_python(model), _no_python_comments)
    yield "javascript", attempt(lambda: to_javascript(model), _no_c_comments)
    yield "rust", attempt(lambda: to_rust(model), _no_c_comments)
    yield "onnx", attempt(lambda: to_onnx(model).graph.SerializeToString().hex(" "), str)
    with tempfile.TemporaryDirectory() as folder:
        yield "arduino", attempt(lambda: _sources(to_arduino(model, Path(folder) / "Library")), _no_c_comments)


def _sources(folder: Path) -> str:
    return "\n".join(path.read_text() for path in sorted(folder.rglob("*")) if path.suffix in (".h", ".cpp", ".ino"))


def _no_c_comments(text: str) -> str:
    return "\n".join(line.rstrip() for line in C_COMMENT.sub("", text).splitlines() if line.strip())


def _no_python_comments(text: str) -> str:
    """The tokens of a Python file, without comments and docstrings."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    kept = (
        t.string for t in tokens if t.type not in (tokenize.COMMENT, tokenize.NL) and not t.string.startswith('"""')
    )
    return " ".join(kept)


# --- two trees -------------------------------------------------------------------------------------------------------


def main() -> int:
    """Compare this tree with another revision."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", help="a Git revision; with --record, a folder to write to")
    parser.add_argument("--record", action="store_true", help="only write the models of the smallearn that is imported")
    arguments = parser.parse_args()
    if arguments.record:
        record(Path(arguments.revision))
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        if _git("worktree", "add", "--detach", "--quiet", str(tree), f"{arguments.revision}^{{commit}}"):
            print(f"There is no revision {arguments.revision!r} in this clone.", file=sys.stderr)  # git has said more
            return 2
        try:
            before, after = (_recorded(Path(scratch) / name, src) for name, src in (("a", tree), ("b", ROOT)))
        finally:
            _git("worktree", "remove", "--force", str(tree))
        return _differences(before, after)


def _git(*command: str) -> int:
    """Run a Git command in this clone; returns its exit code."""
    return subprocess.run(["git", "-C", str(ROOT), *command], check=False).returncode


def _recorded(folder: Path, tree: Path) -> dict[str, dict]:
    """What `record` writes, run with the package of a tree."""
    folder.mkdir()
    print(f"Fits of {tree}", flush=True)
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    subprocess.run([sys.executable, "-P", __file__, str(folder), "--record"], check=True, env=environment)
    return {path.stem: json.loads(path.read_text()) for path in sorted(folder.iterdir())}


def _differences(before: dict[str, dict], after: dict[str, dict]) -> int:
    """Print what differs; returns the exit code."""
    different = [] if list(before) == list(after) else ["the list of models"]
    compared = 0
    for name in before:
        one, other = before[name], after.get(name, {})
        for part in ("json", "attributes"):
            compared += 1
            different += [f"{name}: {part}"] * (one[part] != other.get(part))
        for target, text in one["exports"].items():
            compared += 1
            different += [f"{name}: {target}"] * (text != other.get("exports", {}).get(target))
    for line in different:
        print(f"Different: {line}")
    print(f"{len(before)} models, {compared} comparisons, {len(different)} differences")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
