"""Write the script that installs metrics as functions of a database: the public functions for
it.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from sqlrank._version import __version__
from sqlrank.call.argument_checks import entry_point
from sqlrank.engines.duckdb_session import translate_duckdb_errors
from sqlrank.errors import InputError, MetricError, SqlrankError, short_repr
from sqlrank.registry.resolved_metric import effective_setting
from sqlrank.registry.settings_checks import LIST_SLOTS
from sqlrank.registry.sql_folder import read_toml, sql_root
from sqlrank.rendering.dialects import get_dialect
from sqlrank.routines import DEFAULT_SCHEMA
from sqlrank.routines.function_statements import (
    CHECKS_PARAMETER,
    COMMENT_END,
    HELPERS,
    Routine,
    RoutineFacts,
    RoutineKind,
    build_list_function,
    create_table_macro,
    create_table_routine,
    create_value_routine,
    document_routine,
    function_forms,
    list_group_parameters,
    load_list_functions,
    qualify_function,
    quote_schema,
    refuse_ranges,
    refuse_rows,
    takes_checks,
)
from sqlrank.routines.symbolic_statement import (
    DEFAULT_CUTOFF,
    InstallationOptions,
    RoutineParameter,
    SymbolicMetric,
    SymbolicStatement,
    build_aggregate,
    compile_symbolic,
    find_roles,
    installation_options,
    is_aggregate,
)
from sqlrank.sql_ast import sql_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Unpack

    from sqlglot import exp

    from sqlrank.call.resolve import ResolvedRequest
    from sqlrank.inputs.row_checks import CheckMode
    from sqlrank.option_types import Policies
    from sqlrank.registry.metric import Metric
    from sqlrank.registry.resolved_metric import ResolvedMetric
    from sqlrank.registry.sql_file import SqlFile
    from sqlrank.rendering.dialect import FunctionForms


LIST_PARAMETERS = {
    "retrieved": "list of the ids of retrieved documents, best first, NULL as an empty list",
    "relevant": "list of the ids of relevant documents, without which the value is NULL",
}
"""Lists that functions of lists take, with their descriptions; their files declare the other
parameters.
"""


class Installation:
    """The functions of an installation, added one by one.

    Attributes:
        functions: The functions by kind and name.
        omitted: Reasons why metrics are no functions, by name.
        read_policies: Policies that any of the metrics read.
    """

    def __init__(self, options: InstallationOptions, schema: str) -> None:
        self.options = options
        self.schema = schema
        self.functions: dict[tuple[RoutineKind, str], Routine] = {}
        self.omitted: dict[str, str] = {}
        self.read_policies: set[str] = set()

    def add_lists_and_inputs(self) -> None:
        """Add the functions of lists and of inputs."""
        for name in load_list_functions():
            if name not in HELPERS and (self._has_table_macros or self._forms.list):
                self._add_list_function(name)
        for name, entry in read_toml(sql_root() / "install" / "table_functions.toml").items():
            self._add_or_omit(name, partial(self._add_input_function, name, **entry))

    def add_all(self) -> None:
        """Add the functions of lists and of inputs, and on DuckDB those of all metrics."""
        self.add_lists_and_inputs()
        if not self._has_table_macros:
            self.omitted["each metric"] = (
                "name those that you need, such as sqlrank functions nDCG AUC --dialect"
                f" {self.options.dialect}"
            )
            return
        library = self.options.library
        for file in library.metric_files:
            if file.measures_column:
                self.omitted[file.full_name] = (
                    "it reads a column of yours, for which SQL has an aggregate"
                )
            else:
                self._add_or_omit(file.full_name, partial(self._add_file, file))

    def add_metrics(self, metrics: Sequence[Any]) -> None:
        """Add the functions of metrics.

        Raises:
            MetricError: One of them does not exist, or is no function.
        """
        for text in metrics:
            symbolic = SymbolicMetric.parse(str(text), self.options.library)
            if symbolic.file.measures_column:
                raise MetricError(
                    f"{text} reads a column of yours, for which SQL has an aggregate. Leave it out"
                )
            self._add_metric(symbolic, symbolic.column)

    @property
    def _forms(self) -> FunctionForms:
        return function_forms(self.options.dialect)

    @property
    def _has_table_macros(self) -> bool:
        return get_dialect(self.options.dialect).supports_table_macros

    def _add_file(self, file: SqlFile) -> None:
        """Add the function of a file; a curve with the name of a metric gets the suffix
        ``_curve``.
        """
        metric = SymbolicMetric.from_file(file)
        self._add_metric(
            metric,
            (
                f"{metric.column}_curve"
                if ("table", metric.column) in self.functions
                else metric.column
            ),
        )

    def _add_or_omit(self, name: str, add: Callable[[], None]) -> None:
        try:
            add()
        except (MetricError, InputError) as error:
            self.omitted[name] = _one_line(error)

    def _add_input_function(
        self,
        name: str,
        description: str,
        inputs: Sequence[str],
        metrics: Sequence[str],
        per_query: bool = False,
    ) -> None:
        """Add the function of several metrics of an input."""
        symbolic_metrics = [
            SymbolicMetric.parse(text, self.options.library).restrict_to_cutoff()
            for text in metrics
        ]
        statement = compile_symbolic(symbolic_metrics, inputs, self.options, per_query)
        ungrouped = None if per_query else self._compile_ungrouped(symbolic_metrics, inputs)
        self._add_table_function(name, statement, description, ungrouped)

    def _add_metric(self, metric: SymbolicMetric, name: str) -> None:
        """Add the table function of a metric, and its aggregate if it is one of columns."""
        roles = find_roles(metric, self.options)
        statement = compile_symbolic([metric], roles, self.options)
        self._add_table_function(
            name, statement, metric.file.description, self._compile_ungrouped([metric], roles)
        )
        if is_aggregate(metric, roles, self.options):
            body, parameters, request = build_aggregate(metric, roles[0], self.options)
            if statement.checks:
                weighted = replace(self.options, weighted=True)
                checks = compile_symbolic([metric], roles, weighted).checks[roles[0]]
                names = {parameter.name for parameter in parameters}
                body = refuse_rows(body, roles[0], checks.restrict(names), self.options.dialect)
            comment = document_routine(
                metric.file.description, parameters, *self._describe_settings(request)
            )
            facts = RoutineFacts(name, "aggregate", tuple(roles), (str(metric.metric),), comment)
            if self._has_table_macros or self._forms.aggregate:
                self._add_value_routine(facts, body, parameters)

    def _compile_ungrouped(
        self, metrics: Sequence[SymbolicMetric], roles: Sequence[str]
    ) -> SymbolicStatement | None:
        """Compile metrics of predictions without a group for a macro: DuckDB partitions and groups
        rows also by a constant, which costs up to a half.
        """
        is_curve = any(metric.file.kind == "curves" for metric in metrics)
        if not self._has_table_macros or list(roles) != ["predictions"] or is_curve:
            return None
        statement = compile_symbolic(metrics, roles, self.options, is_grouped=False)
        return (
            None if "query_id" in statement.read_columns["predictions"] else statement
        )  # rows are partitioned by query in any case

    def _add_table_function(
        self,
        name: str,
        statement: SymbolicStatement,
        description: str,
        ungrouped: SymbolicStatement | None,
    ) -> None:
        reads = [
            f"{role}: {', '.join(columns)}." for role, columns in statement.read_columns.items()
        ]
        dialect = self.options.dialect
        further = list_group_parameters(dialect, statement.group_roles)
        if (self._has_table_macros or takes_checks(dialect)) and statement.checks:
            further.append(RoutineParameter(CHECKS_PARAMETER, None, "FALSE to accept wrong rows"))
            checked = ""  # the parameter says so
        else:
            checked = (
                "Wrong rows raise an error."
                if statement.checks
                else "Wrong rows are not looked for."
            )
        comment = document_routine(
            description,
            [*statement.parameters, *further],
            *reads,
            checked,
            *self._describe_settings(statement.request),
        )
        metrics = tuple(str(metric.metric) for metric in statement.request.metrics)
        facts = RoutineFacts(name, "table", tuple(statement.read_columns), metrics, comment)
        if self._has_table_macros:
            self._add_routine(create_table_macro(self.schema, facts, statement, ungrouped))
        else:
            self._add_routine(create_table_routine(dialect, self.schema, facts, statement))

    def _add_list_function(self, name: str) -> None:
        file = load_list_functions()[name]
        declared = [file.params.get(argument) for argument in file.function_arguments]
        parameters = [
            RoutineParameter(
                name, None, LIST_PARAMETERS[name] if param is None else param.about, param
            )
            for name, param in zip(file.function_arguments, declared, strict=True)
        ]
        metric = file.description.partition(" ")[0].replace("@k", f"@{DEFAULT_CUTOFF}")
        facts = RoutineFacts(
            name, "list", ("answers",), (metric,), document_routine(file.description, parameters)
        )
        self._add_value_routine(facts, build_list_function(name), parameters)

    def _add_value_routine(
        self, facts: RoutineFacts, body: exp.Expr, parameters: Sequence[RoutineParameter]
    ) -> None:
        if self.options.check != "off":
            body = refuse_ranges(body, parameters, self.options.dialect)
        self._add_routine(
            create_value_routine(self.options.dialect, self.schema, facts, body, parameters)
        )

    def _describe_settings(self, request: ResolvedRequest) -> list[str]:
        """Return sentences on the settings of metrics, and on when they are undefined."""
        self.read_policies |= request.call.policies.keys()
        settings = dict.fromkeys(
            text for metric in request.metrics for text in self._setting_texts(metric)
        )
        undefined = (
            request.metrics[0].file.annotations.get("Undefined", "")
            if len(request.metrics) == 1
            else ""
        )
        return [
            f"Undefined: {undefined}." if undefined else "",
            f"Settings: {', '.join(settings)}." if settings else "",
        ]

    def _setting_texts(self, metric: ResolvedMetric) -> list[str]:
        """Return the policies and functions that decide a metric, with their values."""
        library = self.options.library
        names = [
            *library.policies,
            *(name for name in metric.file.declared_settings if name in library.functions),
        ]
        names += LIST_SLOTS if metric.input_role == "run" and metric.file.grain == "list" else ()
        read = metric.dependencies.settings | {*LIST_SLOTS}
        if metric.input_role != "run":
            names = [name for name in names if name != "ties" or name in metric.settings]
        values = {name: effective_setting(metric, name, library) for name in names if name in read}
        return [f"{name}={value}" for name, value in values.items() if value != "error"]

    def _add_routine(self, function: Routine) -> None:
        self.functions[function.facts.kind, function.facts.name] = function


def _one_line(error: SqlrankError) -> str:
    return " ".join(str(error).split())


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
        version = sql_literal(__version__).sql(self.dialect)
        schema = (
            [f"CREATE SCHEMA IF NOT EXISTS {self._schema_name}"]
            if get_dialect(self.dialect).supports_function_schemas
            else []
        )
        declared = function_forms(self.dialect).version.format(
            name=self._version_function, version=version
        )
        functions = [statement for function in self.functions for statement in function.create]
        return self._format_script([*schema, declared, *functions])

    @property
    def drop_sql(self) -> str:
        """The script that drops the functions."""
        kind = "MACRO" if get_dialect(self.dialect).supports_table_macros else "FUNCTION"
        arguments = function_forms(self.dialect).version_arguments
        statements = [statement for function in self.functions for statement in function.drop]
        return self._format_script(
            [*statements, f"DROP {kind} IF EXISTS {self._version_function}{arguments}"]
        )

    def _format_script(self, statements: Iterable[str]) -> str:
        return self._header + "".join(f"{statement};\n" for statement in statements)

    @property
    def _version_function(self) -> str:
        """The function that says of which version the functions are; those of ClickHouse are in no
        schema.
        """
        name = (
            "sqlrank_version" if get_dialect(self.dialect).supports_function_schemas else "version"
        )
        return qualify_function(self.schema, name, self.dialect).sql(self.dialect)

    @property
    def _schema_name(self) -> str:
        return quote_schema(self.schema, self.dialect).sql(self.dialect)

    def run(self, file: str | Path, *, drop: bool = False, force: bool = False) -> None:
        """Run the script that creates the functions, or drops them, on a DuckDB file.

        Raises:
            InputError: the functions are not for DuckDB, or the database of the file has the name
                of the schema.
            SqlrankError: a function of the same name was not made by sqlrank, unless ``force``.
            ExecutionError: the file cannot be opened or written.
        """
        if not get_dialect(self.dialect).supports_table_macros:
            raise InputError(
                f"{file}: the functions are for {self.dialect}, and no script for it is run on a"
                " DuckDB file. Write it to a file"
            )
        if Path(file).stem.lower() == self.schema.lower():
            raise InputError(
                f"{file}: the database of this file is called as the schema {self.schema}. Give the"
                " schema main, or name another file"
            )
        with translate_duckdb_errors(), closing(duckdb.connect(str(file))) as connection:
            names = [function.facts.name for function in self.functions]
            others = connection.execute(
                "SELECT DISTINCT function_name FROM duckdb_functions() WHERE database_name ="
                " current_database() AND lower(schema_name) = lower(?) AND function_type IN"
                " ('macro', 'table_macro') AND list_contains(?, function_name) AND NOT"
                " coalesce(comment, '') LIKE ? ORDER BY ALL",
                [self.schema, names, f"%{COMMENT_END}%"],
            ).fetchall()
            if others and not force:
                raise SqlrankError(
                    f"{file}: sqlrank did not make the function {self._schema_name}.{others[0][0]}."
                    " Replace it with force=True, or name another schema="
                )
            connection.execute(f"BEGIN;\n{self.drop_sql if drop else self.sql}COMMIT;")

    @property
    def _header(self) -> str:
        """The comment above a script."""
        engine = get_dialect(self.dialect).label
        lines = [f"sqlrank {__version__}: functions for {engine}, in the schema {self.schema}"]
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
    return FunctionScript(
        "duckdb", DEFAULT_SCHEMA, tuple(installation.functions.values()), installation.omitted
    )


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
    **policies: Unpack[Policies],
) -> FunctionScript:
    """Return a script that installs metrics as functions of a database, where they need no Python
    any more.

    There are functions of tables, aggregates, and functions of the lists in one row::

        FROM sqlrank.rankings(run, qrels, k := 10, by := system)
        SELECT campaign, sqlrank.log_loss(clicked, score) FROM impressions GROUP BY campaign
        SELECT AVG(sqlrank.ndcg_at(retrieved, relevant, 10)) FROM answers

    Args:
        metrics: metrics such as ``["nDCG", "P(rel=2)@5"]``; all, functions of several metrics of an
            input and those of lists, by default. Parameters that a metric does not fix are
            parameters of its function.
        dialect: the SQL dialect: ``"duckdb"``, ``"bigquery"``, ``"clickhouse"``, ``"databricks"``,
            ``"postgres"``, ``"snowflake"`` or ``"spark"``.
        schema: the schema of the functions, which the script creates.
        compat: compatibility mode, as of :func:`evaluate`.
        sql_dir: a directory with metrics, relations and functions of your own.
        weighted: functions of predictions read a column ``weight``, and those of rankings a further
            table ``queries`` with one.
        check: ``"off"`` for functions that do not check the rows of a call; checks take a scan and
            a search for duplicates.
        **policies: policies that the numbers follow, such as ``ties="rank"``: they are fixed when
            functions are installed.

    Returns:
        The functions, with ``sql`` and ``drop_sql`` as scripts; ``omitted`` says which metrics are
        no functions, and why.

    Raises:
        MetricError: a metric or a policy does not exist, or is read by none of the metrics.
        InputError: the schema is no name of one.

    >>> import sqlrank
    >>> sqlrank.functions("nDCG").functions[0].signature
    'sqlrank.ndcg(run, qrels, k := 2147483647, by := NULL, checks := TRUE)'
    """
    function_forms(dialect)
    if (
        not isinstance(schema, str)
        or not schema.strip()
        or not schema.isprintable()
        or "." in schema
    ):
        raise InputError(
            f"schema={short_repr(schema)} is not possible: give the name of one schema, without"
            " a dot"
        )
    options = installation_options(dialect, compat, sql_dir, policies, weighted, check)
    installation = Installation(options, schema)
    if metrics is None:
        installation.add_all()
    else:
        installation.add_metrics(
            [metrics]
            if isinstance(metrics, str) or not hasattr(metrics, "__iter__")
            else list(metrics)
        )
    if unread := sorted(options.policies.keys() - installation.read_policies):
        raise MetricError(f"{unread[0]} is read by none of these metrics. Leave it out")
    settings = [
        *(["weighted"] if weighted else []),
        *(["check=off"] if check == "off" else []),
        *([f"compat={compat}"] if compat is not None else []),
    ]
    settings += [f"{name}={value}" for name, value in options.policies.items()]
    return FunctionScript(
        dialect,
        schema,
        tuple(installation.functions.values()),
        installation.omitted,
        tuple(settings),
    )
