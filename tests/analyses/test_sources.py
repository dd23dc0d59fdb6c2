"""Every value of a policy, a plan or an option of an analysis has a test of a number that comes from
outside: ``sources.toml`` says which, and where the number is from.
"""

import re
import tomllib
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from sqlrank.options import find_option

ROOT = Path(__file__).parents[2]
SOURCES = tomllib.loads(Path(__file__).with_name("sources.toml").read_text("utf-8"))


def list_files(*folder: str) -> list[str]:
    return [path.stem for path in ROOT.joinpath("sql", *folder).glob("*.sql")]


def list_choices(name: str, function: str) -> list[str]:
    option = find_option(name)
    assert option is not None
    return [*option.for_function(function).choices]


@cache
def list_cells() -> dict[str, list[str]]:
    """Return the values of all settings that decide on a number."""
    cells = {}
    for kind in ("policies", "plans"):
        tables = tomllib.loads((ROOT / "sql" / "settings" / f"{kind}.toml").read_text("utf-8"))
        cells |= {
            f"{kind}.{name}": list(table["values"])
            for name, table in tables.items()
            if "values" in table
        }
    margins = ["number", "share"]
    return cells | {
        "compare.test": list_choices("test", "compare"),
        "compare.correction": list_choices("correction", "compare"),
        "compare.interval": list_choices("interval", "compare"),
        "gate.interval": list_choices("interval", "gate"),
        "gate.tolerance": margins,
        "experiment.lift_scale": list_choices("lift_scale", "experiment"),
        "experiment.interval": list_choices("interval", "experiment"),
        "experiment.correction": list_choices("correction", "experiment"),
        "experiment.multi_variant_units": list_choices("multi_variant_units", "experiment"),
        "evaluate.interval": list_choices("interval", "evaluate"),
        "group_differences.correlated_squares": list_files(
            "functions", "formulas", "correlated_squares"
        ),
        "rollup.binning": [
            name for name in ("grid", "exact") if name in list_files("analyses", "rollups")
        ],
        "drift.tolerance": margins,
        "power.correction": list_choices("correction", "experiment"),
        # The folds of an expanding split are one step of it
        "split.method": sorted({*list_files("analyses", "splits")} - {"folds"}),
    }


def list_missing(sources: dict[str, Any]) -> list[str]:
    """Return the values without a source, and the sources of no value."""
    filled = {
        f"{area}.{name}.{value}"
        for area, tables in sources.items()
        for name, values in tables.items()
        for value in values
    }
    expected = {f"{name}.{value}" for name, values in list_cells().items() for value in values}
    return sorted(filled ^ expected)


def list_lost(sources: dict[str, Any]) -> list[str]:
    """Return the tests of sources that do not exist."""
    tests = {
        test
        for tables in sources.values()
        for values in tables.values()
        for source, test in values.values()
        if source
    }
    return sorted(
        test
        for test in tests
        if not re.search(
            rf"^def {test.partition('::')[2]}\(",
            (ROOT / test.partition("::")[0]).read_text("utf-8"),
            re.MULTILINE,
        )
    )


def test_every_value_has_a_number_from_outside():
    assert list_missing(SOURCES) == []


def test_the_tests_of_these_numbers_exist():
    assert list_lost(SOURCES) == []


def test_an_empty_cell_and_a_test_that_is_gone_are_noticed():
    sources = deepcopy(SOURCES)
    del sources["experiment"]["lift_scale"]["linear"]
    sources["policies"]["ties"]["best"][1] += "_of_three"
    assert list_missing(sources) == ["experiment.lift_scale.linear"]
    assert list_lost(sources) == [f"{SOURCES['policies']['ties']['best'][1]}_of_three"]
