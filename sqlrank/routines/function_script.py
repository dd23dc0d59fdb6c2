"""Write the script that installs metrics as functions of a database: the public function ``functions``."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.argument_checks import entry_point
from sqlrank.engines.duckdb_session import translate_duckdb_errors
from sqlrank.errors import InputError, MetricError, SqlrankError, short_repr, suggest_choice
from sqlrank.rendering.dialects import get_dialect
from sqlrank.routines import DEFAULT_SCHEMA, FUNCTION_DIALECTS
from sqlrank.routines.installation import Installation
from sqlrank.routines.routine import COMMENT_END, qualify_function, quote_schema
from sqlrank.routines.symbolic_statement import installation_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlrank.inputs.row_checks import CheckMode
    from sqlrank.registry.metric import Metric
    from sqlrank.routines.routine import Routine


@dataclass(frozen=True)
class FunctionScript:
    """The functions of metrics for a database.

    Attributes:
        dialect: SQL dialect.
        schema: Schema of the functions.
        functions: The functions.
        omitted: Why a metric, or a function of several, is none, by name.
        settings: Policies that were given.
    """

    dialect: str
    schema: str
    functions: tuple[Routine, ...]
    omitted: Mapping[str, str]
    settings: tuple[str, ...] = ()

    @property
    def sql(self) -> str:
        """The script that creates the functions, or replaces them."""
        version = exp.Literal.string(__version__).sql(self.dialect)
        schema = [f"CREATE SCHEMA IF NOT EXISTS {self._schema_name}"] if get_dialect(self.dialect).supports_function_schemas else []
        declared = {
            "duckdb": f"CREATE OR REPLACE MACRO {self._version_function}() AS {version}",
            "clickhouse": f"CREATE OR REPLACE FUNCTION {self._version_function} AS () -> {version}",
            "spark": f"CREATE OR REPLACE FUNCTION {self._version_function}() RETURNS STRING RETURN {version}",
            "databricks": f"CREATE OR REPLACE FUNCTION {self._version_function}() RETURNS STRING RETURN {version}",
            "snowflake": f"CREATE OR REPLACE FUNCTION {self._version_function}() RETURNS VARCHAR AS $$ {version} $$",
            "bigquery": f"CREATE OR REPLACE FUNCTION {self._version_function}() AS ({version})",
            "postgres": f"CREATE OR REPLACE FUNCTION {self._version_function}() RETURNS text LANGUAGE SQL IMMUTABLE AS $$ SELECT {version} $$",
        }[self.dialect]
        functions = [statement for function in self.functions for statement in function.create]
        return self._format_script([*schema, declared, *functions])

    @property
    def drop_sql(self) -> str:
        """The script that drops the functions."""
        kind = "MACRO" if get_dialect(self.dialect).supports_table_macros else "FUNCTION"
        arguments = {"snowflake": "()"}.get(self.dialect, "")  # which identifies functions by types
        statements = [statement for function in self.functions for statement in function.drop]
        return self._format_script([*statements, f"DROP {kind} IF EXISTS {self._version_function}{arguments}"])

    def _format_script(self, statements: Iterable[str]) -> str:
        return self._header + "".join(f"{statement};\n" for statement in statements)

    @property
    def _version_function(self) -> str:
        """The function that says of which version the functions are; those of ClickHouse are in no schema."""
        name = "sqlrank_version" if get_dialect(self.dialect).supports_function_schemas else "version"
        return qualify_function(self.schema, name, self.dialect).sql(self.dialect)

    @property
    def _schema_name(self) -> str:
        return quote_schema(self.schema, self.dialect).sql(self.dialect)

    def run(self, file: str | Path, *, drop: bool = False, force: bool = False) -> None:
        """Run the script that creates the functions, or drops them, on a DuckDB file.

        Raises:
            InputError: the functions are not for DuckDB, or the database of the file has the name of the schema.
            SqlrankError: a function of the same name was not made by sqlrank, unless ``force``.
            ExecutionError: the file cannot be opened or written.
        """
        if not get_dialect(self.dialect).supports_table_macros:
            raise InputError(
                f"{file}: the functions are for {self.dialect}, and no script for it is run on a DuckDB file. Write it to a file"
            )
        if Path(file).stem.lower() == self.schema.lower():
            raise InputError(
                f"{file}: the database of this file is called as the schema {self.schema}. Give the schema main, or name another file"
            )
        with translate_duckdb_errors(), closing(duckdb.connect(str(file))) as connection:
            names = [function.facts.name for function in self.functions]
            others = connection.execute(
                "SELECT DISTINCT function_name FROM duckdb_functions() WHERE database_name = current_database() AND lower(schema_name) = lower(?) AND "
                "function_type IN ('macro', 'table_macro') AND list_contains(?, function_name) AND NOT coalesce(comment, '') LIKE ? ORDER BY ALL",
                [self.schema, names, f"%{COMMENT_END}%"],
            ).fetchall()
            if others and not force:
                raise SqlrankError(
                    f"{file}: sqlrank did not make the function {self._schema_name}.{others[0][0]}. Replace it with force=True, or name another schema="
                )
            connection.execute(f"BEGIN;\n{self.drop_sql if drop else self.sql}COMMIT;")

    @property
    def _header(self) -> str:
        """The comment above a script."""
        lines = [f"sqlrank {__version__}: functions for {self.dialect}, in the schema {self.schema}"]
        lines += [f"settings: {', '.join(self.settings)}"] if self.settings else []
        lines += [f"no function of {name}: {reason}" for name, reason in self.omitted.items()]
        return "".join(f"-- {' '.join(line.split())}\n" for line in lines)

    def __str__(self) -> str:
        """Return the script that creates the functions."""
        return self.sql


def input_functions() -> FunctionScript:
    """Return the script of the functions of lists and of inputs for DuckDB, a tenth of all."""
    installation = Installation(installation_options("duckdb", None, None, {}), DEFAULT_SCHEMA)
    installation.add_lists_and_inputs()
    return FunctionScript("duckdb", DEFAULT_SCHEMA, tuple(installation.functions.values()), installation.omitted)


@entry_point
def functions(
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    *,
    dialect: str = "duckdb",
    schema: str = DEFAULT_SCHEMA,
    compat: str | None = None,
    sql_dir: str | Path | None = None,
    weighted: bool = False,
    check: CheckMode = "auto",
    **policies: Any,
) -> FunctionScript:
    """Return a script that installs metrics as functions of a database, where they need no Python any more.

    There are functions of tables, aggregates, and functions of the lists in one row::

        FROM sqlrank.rankings(run, qrels, k := 10, by := system)
        SELECT campaign, sqlrank.log_loss(clicked, score) FROM impressions GROUP BY campaign
        SELECT AVG(sqlrank.ndcg_at(retrieved, relevant, 10)) FROM answers

    Args:
        metrics: metrics such as ``["nDCG", "P(rel=2)@5"]``; all, functions of several metrics of an input and those of lists, by default.
            Parameters that a metric does not fix are parameters of its function.
        dialect: the SQL dialect: ``"duckdb"``, ``"bigquery"``, ``"clickhouse"``, ``"databricks"``, ``"postgres"``, ``"snowflake"`` or ``"spark"``.
        schema: the schema of the functions, which the script creates.
        compat: compatibility mode, as of :func:`evaluate`.
        sql_dir: a directory with metrics, relations and functions of your own.
        weighted: functions of predictions read a column ``weight``, and those of rankings a further table ``queries`` with one.
        check: ``"off"`` for functions that do not check the rows of a call; checks take a scan and a search for duplicates.
        **policies: policies that the numbers follow, such as ``ties="rank"``: they are fixed when functions are installed.

    Returns:
        The functions, with ``sql`` and ``drop_sql`` as scripts; ``omitted`` says which metrics are no functions, and why.

    Raises:
        MetricError: a metric or a policy does not exist, or is read by none of the metrics.
        InputError: the schema is no name of one.

    >>> functions("nDCG").functions[0].signature
    'sqlrank.ndcg(run, qrels, k := 2147483647, by := NULL, checks := TRUE)'
    """
    if dialect not in FUNCTION_DIALECTS:  # of any name, since most dialects of statements have no functions
        raise MetricError(suggest_choice(f"there are no functions for {dialect}", dialect, FUNCTION_DIALECTS))
    if not isinstance(schema, str) or not schema.strip() or not schema.isprintable() or "." in schema:
        raise InputError(f"schema={short_repr(schema)} is not possible: give the name of one schema, without a dot")
    options = installation_options(dialect, compat, sql_dir, policies, weighted, check)
    installation = Installation(options, schema)
    if metrics is None:
        installation.add_all()
    else:
        installation.add_metrics([metrics] if isinstance(metrics, str) or not hasattr(metrics, "__iter__") else list(metrics))
    if unread := sorted(options.policies.keys() - installation.read_policies):
        raise MetricError(f"{unread[0]} is read by none of these metrics. Leave it out")
    settings = [
        *(["weighted"] if weighted else []),
        *(["check=off"] if check == "off" else []),
        *([f"compat={compat}"] if compat is not None else []),
    ]
    settings += [f"{name}={value}" for name, value in options.policies.items()]
    return FunctionScript(dialect, schema, tuple(installation.functions.values()), installation.omitted, tuple(settings))
