"""The linkage example in SQL: its clusters of persons, and their metrics against plain Python."""

import csv
import re
import runpy
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT / "examples" / "data" / "febrl"
FIELDS = [
    "given_name", "surname", "street_number", "address_1", "suburb", "postcode", "state",
    "date_of_birth", "soc_sec_id",
]  # fmt: skip
BLOCKS = [("date_of_birth",), ("soc_sec_id",), ("surname", "postcode"), ("given_name", "address_1")]


def read_persons() -> list[dict[str, Any]]:
    with (DATA / "persons.csv").open(encoding="utf-8") as file:
        rows = [
            {name.strip(): value.strip() or None for name, value in row.items()}
            for row in csv.DictReader(file)
        ]
    return [{**row, "person": str(row["rec_id"]).split("-")[1]} for row in rows]


def count_agreements(one: dict[str, Any], other: dict[str, Any], fields: Any) -> int:
    return sum(one[name] is not None and one[name] == other[name] for name in fields)


@pytest.mark.slow
def test_it_says_what_plain_python_says(capsys):
    runpy.run_path(str(ROOT / "examples" / "linkage" / "evaluate.py"), run_name="__main__")
    printed = capsys.readouterr().out
    found = dict(re.findall(r"^(\w+) +([\d.]+)$", printed, re.MULTILINE))

    pairs = [
        pair
        for pair in combinations(read_persons(), 2)
        if any(count_agreements(*pair, block) == len(block) for block in BLOCKS)
    ]
    links = [pair for pair in pairs if count_agreements(*pair, FIELDS) >= 4]
    # Each record is linked with one other at most, so that links are clusters, and no cluster has
    # further pairs.
    linked = [str(row["rec_id"]) for pair in links for row in pair]
    assert len(linked) == len(set(linked))
    right = sum(one["person"] == other["person"] for one, other in links)
    among = sum(one["person"] == other["person"] for one, other in pairs)
    missed = {row["person"] for row in read_persons()} - {
        one["person"] for one, other in links if one["person"] == other["person"]
    }
    expected = {
        "PairwisePrecision": right / len(links),
        "PairwiseRecall": right / 500,
        "num_over_split": 500 - right,
        "PairsCompleteness": among / 500,
        "PairsQuality": among / len(pairs),
        "PairsReduction": 1 - len(pairs) / (1000 * 999 / 2),
    }
    assert {name: float(found[name]) for name in expected} == pytest.approx(expected, abs=5e-5)
    assert printed.splitlines()[-1] == f"wrong clusters: {', '.join(sorted(missed))}"


def test_the_licence_is_in_the_folder_of_the_data():
    assert "Jonathan de Bruin" in (DATA / "LICENSE").read_text("utf-8")
    assert sum(path.stat().st_size for path in DATA.iterdir()) < 500_000
