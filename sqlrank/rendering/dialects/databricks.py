"""Databricks: Spark SQL with tables of Delta Lake, which CREATE OR REPLACE replaces. Its dbt
adapter uses the macros of Spark.
"""

from __future__ import annotations

from dataclasses import replace

from sqlrank.rendering.dialects import spark

DIALECT = replace(
    spark.DIALECT,
    label="Databricks",
    sqlglot_name="databricks",
    aliases=(),
    drivers=("databricks",),
    supports_create_or_replace_table=True,
    functions=spark.DIALECT.functions,
    has_dbt_macros=False,
)
