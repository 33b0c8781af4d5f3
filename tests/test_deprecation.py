"""What is deprecated warns, still works, and is gone when it was promised to be."""

import re
from pathlib import Path

import pytest

import smallearn
from smallearn._deprecation import deprecated, renamed_parameter, warn_deprecated

SOURCE = Path(smallearn.__file__).parent


@deprecated(since="0.2", removal="0.4", instead="twice")
def double(x):
    """Two times x."""
    return 2 * x


@renamed_parameter("k", "n_terms", since="0.2", removal="0.4")
def fitted(X, n_terms=3):
    return X, n_terms


def test_a_deprecated_function_works_and_says_since_when_until_when_and_what_to_use():
    words = r"^double is deprecated since smallearn 0\.2 and will be removed in 0\.4\. Use twice instead\.$"
    with pytest.warns(FutureWarning, match=words) as caught:
        assert double(3) == 6
    assert [warning.filename for warning in caught] == [__file__]  # the caller's line
    assert (double.__name__, double.__doc__) == ("double", "Two times x.")


def test_an_old_parameter_is_passed_on_with_a_warning_and_the_new_one_without():
    words = "the parameter 'k' of fitted is deprecated since smallearn 0.2 and will be removed in 0.4. Use 'n_terms'"
    with pytest.warns(FutureWarning, match=words) as caught:
        assert fitted([1], k=5) == ([1], 5)
    assert [warning.filename for warning in caught] == [__file__]
    assert fitted([1], n_terms=5) == fitted([1], 5) == ([1], 5)  # a warning would be an error
    with pytest.raises(TypeError, match="fitted got both 'n_terms' and 'k', its old name; pass 'n_terms' alone"):
        fitted([1], n_terms=5, k=5)


@pytest.mark.parametrize(
    ("since", "removal", "words"),
    [
        ("0.4", "0.4", "removal='0.4' does not come after since='0.4'"),
        ("0.10", "0.9", "removal='0.9' does not come after since='0.10'"),
        ("0.2.1", "0.4", "'0.2.1' is no version of the form 'MAJOR.MINOR'"),
        ("0.2", "next", "'next' is no version of the form 'MAJOR.MINOR'"),
    ],
)
def test_a_removal_comes_after_the_first_warning(since, removal, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        warn_deprecated("x", since=since, removal=removal, instead="y")


def overdue(text, version):
    """The removals that are promised in a file for this version or an earlier one."""
    now = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    promised = re.findall(r"removal=\"(\d+)\.(\d+)\"", text)
    return [f"{major}.{minor}" for major, minor in promised if (int(major), int(minor)) <= now]


def test_nothing_is_kept_longer_than_promised():
    assert overdue('@deprecated(since="0.2", removal="0.4", instead="x")', "0.4.1") == ["0.4"]
    assert overdue('@deprecated(since="0.2", removal="0.10", instead="x")', "0.9.0") == []
    files = sorted(SOURCE.rglob("*.py"))
    assert len(files) > 100
    assert {
        str(file): found for file in files if (found := overdue(file.read_text("utf-8"), smallearn.__version__))
    } == {}
