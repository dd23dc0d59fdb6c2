"""The table of mutants fits the code: each text is there once, and each test exists."""

import re

import pytest

from tests.mutate.generate import draw_mutants, list_sites
from tests.mutate.mutant import ROOT, Mutant, MutantError, read_chosen, read_equivalents


@pytest.mark.parametrize("mutant", read_chosen(), ids=lambda mutant: mutant.file)
def test_a_mutant_can_be_planted_and_has_tests(mutant):
    text = (ROOT / mutant.file).read_text("utf-8")
    assert mutant.replace_text(text) != text
    for test in mutant.tests:
        path, _, name = test.partition("::")
        source = ROOT / path
        assert source.is_dir() or re.search(rf"\bdef {name}\b", source.read_text("utf-8"))


def test_a_text_that_is_gone_is_an_error():
    for before in ("no such text", "SELECT"):
        with pytest.raises(MutantError, match=r"times the text to change, in place of once"):
            Mutant("sql/relations/area_shares.sql", before, "x", ()).replace_text("SELECT SELECT")


def test_a_seed_draws_the_same_mutants():
    drawn = draw_mutants(20, 3)
    assert drawn == draw_mutants(20, 3)
    assert len({mutant.name for mutant in drawn}) == 20


def test_operators_orders_and_constants_are_changed():
    found = {
        (each.before, each.after) for each in list_sites(ROOT / "sql/analyses/splits/exact.sql")
    }
    assert found == {("-", "+"), ("+", "-"), ("/", "*"), ("DESC", "ASC"), ("1", "2"), ("8", "7")}


def test_equivalents_are_of_lines_that_are_there():
    for name, reason in read_equivalents().items():
        path, _, change = name.partition(": ")
        lines = [line.strip() for line in (ROOT / path).read_text("utf-8").splitlines()]
        assert change.partition(" -> ")[0] in lines, name
        assert reason
