"""Tables of Delta, Iceberg and DuckLake with deleted rows, and an attached PostgreSQL, read as the
documentation of inputs says: DuckDB's extensions are in an environment of their own, of the newest
version that PyPI has them for.
"""

import json
import os
import re
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

import sqlrank
from tests.engines.engines import PostgreSQL
from tests.environments import make_environment
from tests.tables import build_table

VERSION = "1.5.5"
EXTENSIONS = ("avro", "delta", "iceberg", "ducklake", "postgres_scanner")
REQUIREMENTS = [
    f"duckdb=={VERSION}",
    *(f"duckdb-extension-{name.replace('_', '-')}=={VERSION}" for name in EXTENSIONS),
    "deltalake==1.6.6",
    "pyiceberg[sql-sqlite,pyarrow]==0.12.0",
    "sqlglot>=30.8",
]
ROOT = Path(__file__).parents[2]
CLICKS = build_table(label="1 0 1 0 1 0", score="0.875 0.75 0.625 0.1875 0.125 0.25")
CURRENT = CLICKS.slice(0, 3)
DELETED = "score < 0.5"

PROGRAM = """
import json, sys
from importlib import import_module
from pathlib import Path
import deltalake, duckdb, pyarrow as pa, sqlrank
from pyiceberg.catalog.sql import SqlCatalog

given = json.load(sys.stdin)
clicks, deleted = pa.table(given["clicks"]), given["deleted"]

deltalake.write_deltalake("clicks_of_delta", clicks)
deltalake.DeltaTable("clicks_of_delta").delete(deleted)

catalog = SqlCatalog("catalog", uri="sqlite:///catalog.db", warehouse=Path("lake").absolute().as_uri())
catalog.create_namespace("shop")
iceberg = catalog.create_table("shop.clicks", schema=clicks.schema)
iceberg.append(clicks)
iceberg.delete(deleted)

con = duckdb.connect()
for name in given["extensions"]:
    package = Path(import_module(f"duckdb_extension_{name}").__file__).parent
    (extension,) = package.rglob("*.duckdb_extension")
    con.load_extension(str(extension))
con.execute("ATTACH 'ducklake:lake.ducklake' AS lake")
con.execute("CREATE TABLE lake.clicks AS FROM clicks")
con.execute(f"DELETE FROM lake.clicks WHERE {deleted}")
con.execute(f"ATTACH '{given['postgres']}' AS shop (TYPE postgres)")
con.execute("CREATE TABLE shop.public.clicks AS FROM clicks")
con.execute(f"DELETE FROM shop.public.clicks WHERE {deleted}")

metadata = iceberg.metadata_location.removeprefix("file://")
folder = iceberg.location().removeprefix("file://")
sources = {
    "Delta": sqlrank.query("FROM delta_scan('clicks_of_delta')"),
    "Iceberg": sqlrank.query(f"FROM iceberg_scan('{metadata}')"),
    "DuckLake": "lake.clicks",
    "PostgreSQL": "shop.public.clicks",
}
values = {
    name: sqlrank.evaluate(["AUC", "num_predictions"], predictions=source, connection=con).to_pylist()
    for name, source in sources.items()
}
con.execute("SET unsafe_enable_version_guessing = true")
guessed = sqlrank.query(f"FROM iceberg_scan('{folder}')")
values["Iceberg's folder"] = sqlrank.evaluate(
    ["AUC", "num_predictions"], predictions=guessed, connection=con
).to_pylist()
print(json.dumps({"values": values, "folders": ["clicks_of_delta", folder]}))
"""


@pytest.mark.slow
def test_current_rows_of_lake_tables_are_read_through_a_connection(
    pytestconfig, tmp_path, monkeypatch
):
    programs = make_environment(pytestconfig, "lake_tables", REQUIREMENTS)
    with closing(PostgreSQL()) as server:
        done = subprocess.run(
            [programs / "python", "-c", PROGRAM],
            input=json.dumps(
                {
                    "clicks": CLICKS.to_pydict(),
                    "deleted": DELETED,
                    "extensions": EXTENSIONS,
                    "postgres": server.uri,
                }
            ),
            check=False,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    assert done.returncode == 0, done.stderr
    there = json.loads(done.stdout)
    expected = sqlrank.evaluate(["AUC", "num_predictions"], predictions=CURRENT).to_pylist()
    assert expected == [{"AUC": 0.5, "num_predictions": 3}]
    assert len(there["values"]) == 5
    for name, values in there["values"].items():
        assert values == expected, name
    monkeypatch.chdir(tmp_path)
    scans = (r"delta_scan\('{}'\)", r"iceberg_scan\('{}/metadata/0\d+-[^/]+\.metadata\.json'\)")
    for folder, scan in zip(there["folders"], scans, strict=True):
        advised = f"FROM {scan.format(re.escape(folder))}"
        with pytest.raises(sqlrank.InputError, match=advised):
            sqlrank.evaluate("AUC", predictions=folder)
