"""Evaluate a record linkage in SQL on the persons of FEBRL 1: ``python
examples/linkage/evaluate.py``.
"""

from pathlib import Path

import duckdb

import sqlrank

HERE = Path(__file__).parent
METRICS = [
    "PairwisePrecision",
    "PairwiseRecall",
    "BCubedF",
    "ClusterF",
    "num_over_merged",
    "num_over_split",
]
BLOCKING = ["PairsCompleteness", "PairsQuality", "PairsReduction"]


def main() -> None:
    """Link the records, and print how far the clusters are those of persons."""
    with duckdb.connect() as connection:
        records = connection.read_csv(
            str(HERE.parent / "data" / "febrl" / "persons.csv"),
            all_varchar=True,
            normalize_names=True,
        )
        records.create("given")
        connection.execute((HERE / "link.sql").read_text("utf-8"))
        inputs = {"records": "records", "candidate_pairs": "candidates"}
        (values,) = sqlrank.evaluate(
            [*METRICS, *BLOCKING], inputs=inputs, connection=connection
        ).to_pylist()
        for name, value in values.items():
            print(f"{name:18} {value:.4f}".removesuffix(".0000" if name.startswith("num") else " "))
        errors = sqlrank.evaluate(
            "ClusterErrors", inputs={"records": "records"}, connection=connection
        )
        print("wrong clusters:", ", ".join(errors["true_cluster"].to_pylist()))


if __name__ == "__main__":
    main()
