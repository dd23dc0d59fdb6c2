"""A new kind of input is a declaration and SQL files, without Python: `tests/interface/orders` has
one.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sqlglot

import sqlrank
from sqlrank import InputError
from sqlrank.rendering.dialects import DIALECTS
from tests.engines.golden.reading import find_faults
from tests.interface.command_line import run_command
from tests.tables import build_table

FOLDER = Path(__file__).parent / "orders"
METRICS = ["Revenue", "LargestBasket", "ItemsPerOrder"]
COLUMNS = {"order_id": "order", "pieces": "n"}
ROWS = [("x", 1, "a", 2, 1.0), ("x", 1, "b", 3, 2.0), ("x", 2, "a", 5, 1.0), ("y", 1, "c", 7, 3.0)]


def make_orders(rows: list[tuple[Any, ...]] = ROWS) -> pa.Table:
    return pa.table(
        {
            name: list(values)
            for name, values in zip(
                ["shop", "order", "item", "price", "n"], zip(*rows, strict=True), strict=True
            )
        }
    )


def evaluate(table: pa.Table, **options: Any) -> list[dict[str, Any]]:
    return sqlrank.evaluate(
        METRICS, inputs={"orders": table}, columns=COLUMNS, sql_dir=FOLDER, **options
    ).to_pylist()


X = {"shop": "x", "Revenue": 13.0, "LargestBasket": 8.0, "ItemsPerOrder": 1.5}
Y = {"shop": "y", "Revenue": 21.0, "LargestBasket": 21.0, "ItemsPerOrder": 1.0}


def test_metrics_of_groups_and_of_lists():
    assert evaluate(make_orders(), by="shop") == [X, Y]
    assert evaluate(make_orders(ROWS[:3])) == [{name: X[name] for name in METRICS}]


def test_slices():
    total = {
        "shop": None,
        "slice": "all",
        "Revenue": 34.0,
        "LargestBasket": 29.0,
        "ItemsPerOrder": 2.0,
    }
    assert evaluate(make_orders(), by=[["shop"], []]) == [
        total,
        X | {"slice": "shop"},
        Y | {"slice": "shop"},
    ]


def test_a_row_per_list():
    found = evaluate(make_orders(), by="shop", per_query=True)
    assert [tuple(row.values()) for row in found] == [
        ("x", 1, 8.0, 8.0, 2.0),
        ("x", 2, 5.0, 5.0, 1.0),
        ("y", 1, 21.0, 21.0, 1.0),
    ]


def test_an_aggregate_of_lists():
    found = sqlrank.evaluate(
        "ItemsPerOrder(aggregate=max)",
        inputs={"orders": make_orders()},
        columns=COLUMNS,
        sql_dir=FOLDER,
        by="shop",
    )
    assert found["ItemsPerOrder(aggregate=max)"].to_pylist() == [2.0, 1.0]


def test_rows_are_filtered():
    assert evaluate(make_orders(), where="shop = 'y'") == [{name: Y[name] for name in METRICS}]


ROLES = """
[bought]
description = "what was bought: a row per item of an order"
{said}
[bought.columns]
order_id = {{ type = "key", references = "order_id", description = "order" }}
item = {{ type = "key", description = "what was bought" }}
[returned]
description = "what was sent back: a row per order"
unique = ["order_id"]
main_role = "{beside}"
[returned.columns]
order_id = {{ type = "key", references = "order_id", description = "order" }}
"""
NO_RETURN_METRIC = """-- Kept: share of the items that are of orders from which nothing was sent back.
-- Undefined: no items.
-- Source: this test.
SELECT group_id, 1 - SUM(is_returned) / NULLIF(COUNT(*), 0) AS kept FROM judged_items GROUP BY group_id
"""
JUDGED_ITEMS = """-- judged_items: one row per item, and whether its order was sent back.
SELECT b.group_id, CASE WHEN r.order_id IS NULL THEN 0 ELSE 1 END AS is_returned
FROM bought AS b LEFT JOIN returned AS r ON b.group_id = r.group_id AND b.order_id = r.order_id
"""


def make_folder(path: Path, said: str = "", beside: str = "bought") -> Path:
    for name, text in {
        "roles.toml": ROLES.format(said=said, beside=beside),
        "metrics/kept.sql": NO_RETURN_METRIC,
        "relations/judged_items.sql": JUDGED_ITEMS,
    }.items():
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text(text)
    return path


def test_a_role_is_read_with_another(tmp_path):
    bought = build_table(order_id="1 1 2", item="a b c", shop="x y y")
    inputs = {"bought": bought, "returned": build_table(order_id="2")}
    options = {"inputs": inputs, "sql_dir": make_folder(tmp_path), "by": "shop"}
    assert sqlrank.evaluate("Kept", **options).to_pylist() == [
        {"shop": "x", "Kept": 1.0},
        {"shop": "y", "Kept": 0.5},
    ]
    inputs["returned"] = build_table(order_id="b2")
    with pytest.raises(
        InputError,
        match=(
            r"bought\.order_id is BIGINT, returned\.order_id is VARCHAR: no number is one of the"
            r" texts"
        ),
    ):
        sqlrank.evaluate("Kept", **options)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_it_is_printed_in_every_dialect(dialect):
    text = sqlrank.sql(
        METRICS,
        inputs={"orders": "sales"},
        columns=COLUMNS,
        by="shop",
        dialect=dialect,
        sql_dir=FOLDER,
    )
    assert sqlglot.parse_one(text, read=DIALECTS[dialect].sqlglot_name).named_selects[1:] == [
        "revenue",
        "largest",
        "items",
    ]
    assert dialect == "datafusion" or find_faults(text, dialect) == []


def test_the_command_takes_it(tmp_path):
    path = tmp_path / "orders.csv"
    path.write_text("order_id,item,price\n1,a,2\n1,b,3\n", "utf-8")
    shown = run_command(
        "evaluate", "Revenue", "ItemsPerOrder", "--input", f"orders={path}", "--sql-dir",
        str(FOLDER), "--format", "csv",
    )  # fmt: skip
    assert shown == "Revenue,ItemsPerOrder\n5.0,2.0\n"
