"""Short versions of the attacks with kills and denials; the long ones are ``make faults``."""

import os

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")

if os.name == "posix":
    from attacks.faults import denials, kills
    from attacks.faults.workshop import Workshop


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    return Workshop(tmp_path_factory.mktemp("faults"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["predict", "report"])
def test_a_killed_command_leaves_old_or_new_and_nothing_else(workshop, name):
    victim = kills.VICTIMS[name](workshop)
    usual = victim.undisturbed()
    for share in (0.5, 0.8, 0.95):
        _, wrong = victim.killed_after(share * usual)
        assert wrong == []


@pytest.mark.parametrize("name", ["small files", "closed stdout"])
def test_a_command_that_is_denied_something_ends_with_a_sentence(workshop, name, monkeypatch):
    every = denials.commands(workshop)
    monkeypatch.setattr(denials, "commands", lambda _: [one for one in every if one[0] in ("predict", "export")])
    found = dict(denials.DENIALS[name](workshop).each())
    assert found == {"predict": [], "export": []}


def test_a_half_written_file_and_a_draft_are_found(workshop):
    victim = kills.Predict(workshop)
    victim.expected, victim.left = {"scored.csv": b"new"}, []
    place = workshop.place("check")
    victim.prepare(place)
    assert victim.half_written(place) == []
    (place / "work" / "scored.csv").write_bytes(b"ne")
    assert victim.half_written(place) == [("predict: scored.csv is neither old nor new", "2 bytes")]
    (place / "work" / "scored.csv").write_bytes(b"new")
    (place / "work" / ".smallearn-1.tmp").touch()
    assert victim.differences(place) == [("predict: the next run leaves something behind", ".smallearn-1.tmp")]
