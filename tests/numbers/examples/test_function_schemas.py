"""Schemas of functions are quoted, whatever their names."""

import math

import duckdb
import pytest

import sqlrank
from tests.lanes import select_few


@pytest.mark.parametrize(
    "schema", select_few(["a 'b' \"c\"; --{0}%", "select", "Trailing", "two words"], 1)
)
def test_schemas_are_quoted(schema, tmp_path):
    script = sqlrank.functions(["LogLoss", "nDCG"], schema=schema)
    quoted = '"' + schema.replace('"', '""') + '"'
    assert script.functions[0].signature.startswith(f"{quoted}.log_loss(predictions, by := NULL, ")
    rows = "(FROM (VALUES (1, 0.5), (0, 0.5)) AS rows(label, score))"
    calls = (
        f"WITH rows AS {rows} SELECT log_loss, {quoted}.sqlrank_version() FROM"
        f" {quoted}.log_loss(rows)"
    )
    file = tmp_path / "metrics.duckdb"
    for _ in range(2):
        script.run(file)
    with duckdb.connect(str(file)) as connection:
        assert connection.execute(calls).fetchall() == [
            (pytest.approx(math.log(2)), sqlrank.__version__)
        ]
        query = f"SELECT {quoted}.log_loss(label, score) FROM {rows}"
        assert connection.execute(query).fetchall() == [(pytest.approx(math.log(2)),)]
    script.run(file, drop=True)
    with duckdb.connect(str(file)) as connection:
        assert connection.execute(
            "SELECT COUNT(*) FROM duckdb_functions() WHERE schema_name = ?", [schema]
        ).fetchall() == [(0,)]
