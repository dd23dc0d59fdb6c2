"""Code of other tools in docs/compat.md that does not run as examples do: a tool compiles for a
minute, or needs Java.
"""

import re
from pathlib import Path
from typing import Any

import pytest

import sqlrank
from tests.tables import read_columns

PAGE = (Path(__file__).parents[3] / "docs" / "compat.md").read_text("utf-8")
BLOCKS = [
    block
    for block in re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    if not block.startswith(">>>")
]
RUN = {"q1": {"d1": 0.9, "d2": 0.8, "d3": 0.3}, "q2": {"d2": 0.7, "d4": 0.6}}
QRELS = {"q1": {"d2": 1, "d5": 2}, "q2": {"d2": 0, "d4": 1}}
LISTS = read_columns(q1="d1 d2 d3", q2="d2 d4")


def test_the_page_has_the_data_and_the_code_of_two_tools():
    assert f"run = {RUN}".replace("'", '"') in PAGE
    assert f"qrels = {QRELS}".replace("'", '"') in PAGE
    assert [block.split()[1].partition(".")[0] for block in BLOCKS] == ["ranx", "pyspark"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*unsafe cast from uint64 to int64")
def test_ranx_gives_the_same_numbers():
    pytest.importorskip("ranx", reason="ranx is a dependency of the benchmarks")
    assert_same_numbers(BLOCKS[0], {})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Deprecated:FutureWarning")
def test_mllib_gives_the_same_numbers(tmp_path):
    sql = pytest.importorskip("pyspark.sql", reason="needs pyspark")
    active = sql.SparkSession.getActiveSession()
    options = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.warehouse.dir": str(tmp_path),
    }
    spark = active or sql.SparkSession.builder.master("local[1]").config(map=options).getOrCreate()
    try:
        assert_same_numbers(BLOCKS[1], {"spark": spark})
    finally:
        if active is None:
            spark.stop()


def assert_same_numbers(code: str, names: dict[str, Any]) -> None:
    """Run code that puts the numbers of a tool into ``theirs`` and a result of sqlrank into
    ``ours``.
    """
    values = {"sqlrank": sqlrank, "run": RUN, "qrels": QRELS, "lists": LISTS, **names}
    exec(code, values)  # noqa: S102  the code of a page
    (ours,) = values["ours"].to_pylist()
    assert list(ours.values()) == pytest.approx(list(values["theirs"].values()), abs=1e-9)
    assert len(ours) == 3
