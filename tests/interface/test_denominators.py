"""No denominator of a SQL file can be 0; a file of a user's with one raises an error with a fix."""

import re
from pathlib import Path

import pytest
import sqlglot

import sqlrank
from sqlrank.registry.contract import NEVER_ZERO, unguarded_divisors
from sqlrank.registry.loader import load_registry
from sqlrank.registry.sql_folder import sql_root
from tests.tables import build_table

RUN = build_table(query_id="q q", doc_id="a b", score="2.0 1.0")
QRELS = build_table(query_id="q q", doc_id="a b", relevance="1 1")
MINE = (
    "-- mine: a quotient.\nSELECT\n  list_id,\n  SUM(doc_count) / {} AS mine\nFROM"
    " relevant_documents\nGROUP BY list_id\n"
)


@pytest.mark.slow
def test_no_denominator_is_zero():
    """Of metrics, curves, relations and functions the contract asks it; of other files nobody else
    does.
    """
    files = load_registry().list_files()
    assert sum("/" in file.tree.sql() for file in files) > 80
    for file in files:
        assert (
            list(
                unguarded_divisors(
                    file.statement,
                    {name for name, param in file.params.items() if param.is_above_zero},
                    file.annotations.get(NEVER_ZERO, ""),
                )
            )
            == []
        ), file.path
    others = [
        path
        for folder in (
            "inputs", "inputs/advice", "inputs/checks", "inputs/readers", "analyses/learn",
        )
        for path in sorted(sql_root().glob(f"{folder}/*.sql"))
    ]  # fmt: skip
    assert len(others) > 15
    for path in others:
        text = path.read_text("utf-8")
        declared = re.search(rf"^-- {NEVER_ZERO}: (.+)\.$", text, re.MULTILINE)
        assert (
            list(
                unguarded_divisors(
                    sqlglot.parse_one(text, read="duckdb"), (), declared[1] if declared else ""
                )
            )
            == []
        ), path


def evaluate_metric(tmp_path: Path, denominator: str, *lines: str) -> float | None:
    (tmp_path / "metrics").mkdir(exist_ok=True)
    text = MINE.format(denominator).replace(
        "\nSELECT", "".join(f"\n-- {line}" for line in lines) + "\nSELECT", 1
    )
    (tmp_path / "metrics" / "mine.sql").write_text(text)
    return sqlrank.evaluate("mine", run=RUN, qrels=QRELS, sql_dir=tmp_path).to_pylist()[0]["mine"]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("denominator", "lines", "expected"),
    [
        ("NULLIF(SUM(rank), 0)", (), 2 / 3),
        ("NULLIF(SUM(rank - rank), 0)", (), 0),
        ("4", (), 0.5),
        ("SQRT(EXP(LN(2)) * 8)", (), 0.5),
        ("$size", ("$size: number above 0, default 4: what is divided by.",), 0.5),
        ("$size", ("$size: integer from 1, default 4: what is divided by.",), 0.5),
        ("MAX(rank)", ("Nonzero: MAX(rank).",), 1),
        (
            "(MAX(rank) * COALESCE(MAX(cumulative_hits), 1))",
            ("Nonzero: MAX(rank), COALESCE(MAX(cumulative_hits), 1).",),
            0.5,
        ),
    ],
)
def test_nonzero_expressions(tmp_path, denominator, lines, expected):
    """Undefined values count as 0, as for any metric."""
    assert evaluate_metric(tmp_path, denominator, *lines) == pytest.approx(expected)
