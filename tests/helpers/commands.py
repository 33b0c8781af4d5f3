"""Commands as tests run them: in this process, on tables with everything that files have."""

import numpy as np
import pandas as pd

from smallearn import cli


def run(capsys, *arguments, code=0):
    """Run a command, which must return ``code``; what it printed."""
    assert cli.main(list(arguments)) == code
    return capsys.readouterr()


def messy_table():
    """Rows with gaps, text, quotes, a constant, an ID and names in several scripts."""
    rng = np.random.default_rng(0)
    size = rng.normal(5.0, 2.0, 200).round(2)
    colour = rng.choice(["red", 'so-called "blue"', "grün; hell"], 200)
    return pd.DataFrame(
        {
            "id": [f"case {i}" for i in range(200)],
            "Größe, cm": np.where(rng.random(200) < 0.1, np.nan, size),
            "colour": colour,
            "always": 7,
            "result": np.where((size > 5.5) | (colour == "red"), "yes", "no"),
        }
    )


def quick_fit(path, *arguments):
    """The exit code of a small fit, and the path of the model."""
    output = path.with_name("model.json")
    quick = ["--target", "result", "--max-terms", "2", "--prototypes", "1", "-o", str(output)]
    return cli.main(["fit", str(path), *quick, *arguments]), output
