"""Damaged model files that are guided by coverage: ``python -m attacks.guided -max_total_time=600 -seed=1``.

Needs atheris (``pip install atheris``), which has no wheels for every Python; the options are those of libFuzzer. It
mutates the same files to begin with as `models`, keeps what reaches new lines, and stops at the first finding, with the
file that gave it.
"""

import sys
import tempfile
from pathlib import Path


def main() -> None:
    """Fuzz until the time is up."""
    try:
        import atheris
    except ImportError:
        sys.exit("Coverage-guided fuzzing needs atheris, which is not installed: pip install atheris")
    with atheris.instrument_imports(include=["smallearn.model"]):
        import smallearn.model  # noqa: F401  # the import is what is instrumented
    from attacks.fuzz.models import judge
    from attacks.fuzz.seeds import seeds

    def one(data: bytes) -> None:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return
        findings = judge(text).findings
        if findings:
            raise RuntimeError(findings)

    with tempfile.TemporaryDirectory(prefix="smallearn-guided-") as folder:
        for i, text in enumerate(text for some in seeds() for text in some):
            Path(folder, f"seed-{i}.json").write_text(text, encoding="utf-8")
        atheris.Setup([sys.argv[0], "-max_len=20000", "-timeout=20", *sys.argv[1:], folder], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
