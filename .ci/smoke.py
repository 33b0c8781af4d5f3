"""What a fresh installation must be able to do: fit, predict, save, load, export; with the extra cli also for files.

`dist.py` runs it where smallearn is installed and no other file of the project is: python smoke.py [--tables]
"""

import importlib.metadata
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

import smallearn
from smallearn import SMaLLClassifierCV, load_model
from smallearn.export import to_c

SCRIPT = Path(sys.executable).with_name("smallearn")


def command(*arguments: str | Path) -> str:
    """What the installed command prints."""
    done = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"smallearn {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done.stdout


def smoke(folder: Path) -> None:
    """The library with its required dependencies alone."""
    assert Path(smallearn.__file__).is_relative_to(sys.prefix), f"{smallearn.__file__} is not the installed package"
    version = importlib.metadata.version("smallearn")
    assert smallearn.__version__ == version
    assert command("--version").split()[-1] == version
    assert "predict" in command("--help")

    data = load_breast_cancer()
    classifier = SMaLLClassifierCV(max_terms=3, cv=3, random_state=0).fit(data.data[::2], data.target[::2])
    accuracy = classifier.score(data.data[1::2], data.target[1::2])
    assert accuracy > 0.9, accuracy
    assert len(classifier.model_.terms) <= 3

    classifier.model_.save(folder / "model.json")
    model = load_model(folder / "model.json")
    np.testing.assert_array_equal(model.predict(data.data), classifier.predict(data.data))
    assert str(model) == str(classifier.model_)
    code = to_c(model)
    assert "model_predict(" in code


def smoke_tables(folder: Path) -> None:
    """The command, which reads and writes files, and the page that it writes."""
    data = load_breast_cancer(as_frame=True)
    table = data.data.iloc[:, :8].assign(diagnosis=data.target_names[data.target])
    table[::2].to_csv(folder / "train.csv", index=False)
    table[1::2].to_csv(folder / "test.csv", index=False)
    model = folder / "model.json"
    command("fit", folder / "train.csv", "--target", "diagnosis", "--max-terms", "3", "-o", model)
    assert 0 < load_model(model).n_terms <= 3
    command("predict", model, folder / "test.csv", "-o", folder / "answers.csv")
    assert len((folder / "answers.csv").read_text(encoding="utf-8").splitlines()) == 1 + len(table[1::2])
    command("export", model, "--to", "c", "-o", folder / "model.h")
    assert "model_predict(" in (folder / "model.h").read_text(encoding="utf-8")
    command("report", model, folder / "test.csv", "-o", folder / "report.html")
    assert "</html>" in (folder / "report.html").read_text(encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        (smoke_tables if sys.argv[1:] == ["--tables"] else smoke)(Path(name))
