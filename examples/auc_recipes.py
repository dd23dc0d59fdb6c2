"""Three recipes for AUC that are copied from web pages, beside sqlrank, on the same predictions
rounded more and more.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

import sqlrank

RECIPES = Path(__file__).parent / "auc_recipes"
ROWS = """
    SELECT CAST(HASH(i) % 1000 < 10 + 40 * (HASH(i + 500000) % 1000000 / 1000000) AS INT) AS label, HASH(i + 500000) % 1000000 / 1000000 AS exact
    FROM range(100000) AS numbers(i)
"""  # noqa: E501


def compute_table() -> list[tuple[str, float, float, float, float]]:
    """Return the AUC by each recipe and by sqlrank, for scores rounded to so many decimals."""
    rows = []
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE exact AS {ROWS}")
        for decimals in (6, 2, 1, 0):
            connection.execute(
                "CREATE OR REPLACE TABLE predictions AS SELECT label, FLOOR(exact * ?) / ? AS score"
                " FROM exact ORDER BY label, exact",
                [10.0**decimals] * 2,
            )
            recipe_values = [
                connection.sql((RECIPES / f"{name}.sql").read_text("utf-8")).fetchall()[0][0]
                for name in ("rank", "row_number", "corrected")
            ]
            auc = sqlrank.evaluate("AUC", predictions="predictions", connection=connection)["AUC"][
                0
            ].as_py()
            rows.append((str(decimals), *recipe_values, auc))
    return rows


if __name__ == "__main__":
    print("decimals    RANK  ROW_NUMBER  corrected  sqlrank")
    for decimals, *values in compute_table():
        print(
            f"{decimals:>8}"
            + "".join(
                f"{value:{width}.4f}" for value, width in zip(values, (8, 12, 11, 9), strict=True)
            )
        )
