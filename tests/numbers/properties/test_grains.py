"""The grain that a file declares holds on data: no two rows of a relation agree in the columns that
identify a row.
"""

from collections.abc import Iterator

import duckdb
import pytest

import sqlrank
from sqlrank.explanations.explain import explain
from sqlrank.registry.loader import load_registry
from tests.numbers.properties import test_standalone_files as pasted

LIBRARY = load_registry()
UNIQUE = sorted(
    key
    for key, file in LIBRARY.relations.items()
    if file.row_grain is not None and file.row_grain.is_unique
)


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a database with two groups of predictions, one of more than 32, and one group of
    everything else.
    """
    tables = {
        "run": pasted.RUN,
        "qrels": pasted.QRELS,
        "predictions": pasted.PREDICTIONS.replace(
            "SELECT ", "SELECT 'd' || i AS doc_id, i AS rank, ", 1
        ),
        "records": pasted.RECORDS.replace("SELECT ", "SELECT i % 2 AS source, ", 1),
        "splits": pasted.SPLITS,
        "interleaved": pasted.INTERLEAVED,
        "classified": pasted.CLASSIFIED,
        "class_scores": pasted.CLASS_SCORES,
        "class_labels": pasted.CLASS_LABELS,
        "ratings": pasted.RATINGS,
        "uplift": pasted.UPLIFT,
        "judged": pasted.JUDGED,
        "candidate_pairs": pasted.PAIRS,
        "queries": (
            "SELECT 'q' || i AS query_id, 1.0 AS weight, 2 AS cutoff, 'a b c ' || i AS text, i AS"
            " measure FROM range(4) AS t(i)"
        ),
        "predicted_clusters": (
            "SELECT i AS record_id, 'p' || (i % 7) AS cluster_id FROM range(20) AS t(i)"
        ),
        "true_clusters": "SELECT i + 5 AS record_id, i % 6 AS cluster_id FROM range(20) AS t(i)",
        **pasted.OTHERS,
        "baseline": pasted.OTHERS["baseline"].replace("SELECT ", "SELECT i AS rank, ", 1),
        "evidence": (
            "SELECT 'q' || i AS query_id, i % 2 AS source, i AS span_start, i + 3 AS span_end, 1.0"
            " AS grade FROM range(5) AS t(i)"
        ),
        "chunks": (
            "SELECT 'd' || i AS doc_id, i % 2 AS source, i AS span_start, i + 2 AS span_end FROM"
            " range(5) AS t(i)"
        ),
        "answers": (
            "SELECT 'q' || i AS query_id, ['d1', 'd2'] AS retrieved, ['d2'] AS relevant, i AS"
            " measure FROM range(5) AS t(i)"
        ),
    }
    with duckdb.connect() as database:
        for name, query in tables.items():
            keys = (
                ""
                if name == "queries"
                else (
                    "i // 40 AS group_id, 1 AS unit_id, "
                    if name == "predictions"
                    else "1 AS group_id, 1 AS unit_id, "
                )
            )
            database.execute(
                f"CREATE TABLE {name} AS {query.replace('SELECT ', f'SELECT {keys}', 1)}"
            )
        yield database


def test_every_role_has_a_grain():
    assert {
        name: str(role.row_grain) for name, role in LIBRARY.roles.items() if not role.unique
    } == {name: f"rows of {name}" for name in LIBRARY.roles if not LIBRARY.roles[name].unique}
    assert str(LIBRARY.roles["run"].row_grain) == "query_id, doc_id"


def test_the_grain_of_metrics_and_curves_is_their_key():
    assert str(LIBRARY.find_metric("ndcg").row_grain) == "list_id"
    assert str(LIBRARY.curves["roc"].row_grain) == "group_id, point"


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("name", "choice"), UNIQUE, ids=str)
def test_the_grain_identifies_a_row(name, choice, connection):
    file = LIBRARY.relations[name, choice]
    columns = (
        ", ".join(file.row_grain.columns)
        if file.row_grain is not None and file.row_grain.columns
        else "1"
    )
    distinct = f"(SELECT COUNT(*) FROM (SELECT DISTINCT {columns} FROM pasted))"
    (found,) = pasted.Pasted(file).run(
        connection, f"SELECT COUNT(*) > 0 AND COUNT(*) = {distinct} FROM pasted"
    )
    assert found


def test_explain_has_the_grain_of_each_step():
    explanation = explain(
        "RR", query="q1", run={"q1": {"a": 2.0, "b": 1.0}}, qrels={"q1": {"b": 1}}
    )
    grains = {step.name: step.grain for step in explanation.steps}
    assert grains["ranked_documents"] == "list_id, doc_id"
    assert grains["judged_documents"] == "rows of judgments"
    assert "Grain" not in str(explanation) + sqlrank.sql(
        "RR", run="run", qrels="qrels", dialect="duckdb"
    )
