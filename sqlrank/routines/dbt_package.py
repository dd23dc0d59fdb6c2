"""Build and write a dbt package with macros of metrics for several adapters, and generic tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.call.argument_checks import entry_point
from sqlrank.errors import MetricError, SqlrankError
from sqlrank.output.output_file import FileKind, OutputFile, write_files
from sqlrank.registry.metric import Metric
from sqlrank.registry.metric_info import better_direction
from sqlrank.registry.sql_folder import read_toml, sql_root
from sqlrank.rendering.dialects import DIALECTS
from sqlrank.rendering.formatter import format_tree
from sqlrank.routines.symbolic_statement import (
    GROUP_COLUMN,
    SOURCE_GROUP_COLUMN,
    InstallationOptions,
    RoutineParameter,
    SymbolicMetric,
    SymbolicStatement,
    build_table_query,
    compile_symbolic,
    find_roles,
    installation_options,
    sort_parameters,
)
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Unpack

    from sqlrank.option_types import Policies
    from sqlrank.registry.sql_file import Parameter


PACKAGE = "sqlrank"
"""Name of the package, in which macros call each other."""

_COLUMN_LISTS = (exp.Select, exp.Group, exp.Window, exp.Ordered, exp.Anonymous)
"""Nodes in which the column of the group is an item of a list, in the place of which there may be
several.
"""

_CONDITIONS = (exp.EQ, exp.NullSafeEQ, exp.Is, exp.And, exp.Or, exp.Paren)
"""Nodes of which the comparison of two groups consists, in any dialect."""
_COMPARED_VALUES = (exp.Cast, exp.Coalesce, exp.Array)
"""Nodes around the groups that are compared: joins hash texts of them on Redshift, and arrays of
them on PostgreSQL.
"""


@dataclass(frozen=True)
class DbtMacro:
    """A macro of dbt with a statement for each adapter.

    Attributes:
        name: Name in the package.
        description: Its documentation.
        inputs: Inputs whose relations it takes, with the columns that it reads.
        parameters: Parameters of metrics.
        columns: Columns of its result, beside those of groups.
        queries: Texts of the statement by adapter.
    """

    name: str
    description: str
    inputs: Mapping[str, Sequence[str]]
    parameters: Sequence[RoutineParameter]
    columns: Sequence[str]
    queries: Mapping[str, str]

    @property
    def arguments(self) -> list[tuple[str, str | None]]:
        """The arguments with the Jinja text of their defaults, those without a default first."""
        numbers = [(one.name, one.default_text) for one in sort_parameters(self.parameters)]
        return [
            *((role, None) for role in self.inputs),
            *numbers,
            ("by", "none"),
            ("columns", "{}"),
        ]

    @property
    def dispatcher(self) -> str:
        """The text of the macro that a model calls, which checks its arguments, and of the one for
        adapters without a statement.
        """
        signature = ", ".join(
            name if default is None else f"{name}={default}" for name, default in self.arguments
        )
        checks = [
            _write_range_check(one.name, one.declared)
            for one in self.parameters
            if one.declared is not None
        ]
        allowed = [
            name
            for role, columns in self.inputs.items()
            for column in columns
            for name in (column, f"{role}.{column}")
        ]
        checks.append(
            f"{{%- do {PACKAGE}.check_columns(columns, {list(dict.fromkeys(allowed))}) -%}}"
        )
        values = [
            "columns" if name == "columns" else "groups" if name == "by" else name
            for name, _ in self.arguments
        ]
        return "\n".join(
            [
                f"{{% macro {self.name}({signature}) %}}",
                *(f"  {check}" for check in checks),
                f"  {{%- set groups = {PACKAGE}.list_groups(by) -%}}",
                f"  {{{{- adapter.dispatch('{self.name}', '{PACKAGE}')({', '.join(values)}) -}}}}",
                "{% endmacro %}",
                "",
                f"{{% macro default__{self.name}({', '.join(self.values)}) %}}",
                f"  {{{{- {PACKAGE}.refuse_adapter('{self.name}', {list(self.queries)}) -}}}}",
                "{% endmacro %}",
                "",
            ]
        )

    @property
    def values(self) -> list[str]:
        """The arguments of the macros of adapters, in which groups are lists."""
        return ["groups" if name == "by" else name for name, _ in self.arguments]

    def adapter_macro(self, adapter: str) -> str:
        """Return the text of the macro of an adapter."""
        return (
            f"{{% macro {adapter}__{self.name}({', '.join(self.values)})"
            f" %}}\n{self.queries[adapter]}\n{{% endmacro %}}\n"
        )


def _write_range_check(name: str, declared: Parameter) -> str:
    """Return the call that refuses a value of a parameter out of its range."""
    kind, excluded = (
        "true" if is_so else "false"
        for is_so in (declared.type == "integer", declared.excludes_low)
    )
    return (
        f"{{%- do {PACKAGE}.check_range('{name}', {name}, '{declared.limited_range_text}',"
        f" {declared.low!r}, {declared.high!r}, {kind}, {excluded}) -%}}"
    )


def build_dbt_query(symbolic: SymbolicStatement, dialect: str) -> str:
    """Return the statement of a macro, in which Jinja reads relations, names columns and lists
    groups.

    Raises:
        MetricError: The dialect cannot express the statement, or it uses groups in a way that a
            list of columns cannot replace.
    """
    query = build_table_query(
        symbolic,
        dialect,
        lambda role: _read_source(symbolic, role),
        lambda name: exp.var(f"{{{{ {name} }}}}"),
    )
    _put_groups(query, dialect)
    return format_tree(query, dialect, pretty=True)[0]


def _read_source(symbolic: SymbolicStatement, role: str) -> exp.Select:
    """Return the query that reads the relation of a role under the names of its columns."""
    groups = "groups" if role in symbolic.group_roles else "[]"
    columns = (
        f"{{{{ {PACKAGE}.source_columns('{role}', {list(symbolic.read_columns[role])}, columns,"
        f" {groups}) }}}}"
    )
    return exp.select(exp.var(columns)).from_(exp.Table(this=exp.var(f"{{{{ {role} }}}}")))


def _put_groups(query: exp.Select, dialect: str) -> None:
    """Replace the column of the group in place by a list of columns, and comparisons of it by one
    for each.
    """
    key, *values = query.selects
    if key.output_name != GROUP_COLUMN:
        raise MetricError(f"{key.sql()} is not the column of the group")
    keys = f"{{{{ {PACKAGE}.group_keys(groups, '{_find_qualifier(key.unalias())}') }}}}"
    query.set("expressions", [exp.var(f"{keys}{_format_sql(values[0], dialect)}"), *values[1:]])
    for alias in find_nodes(query, exp.Alias):
        if _is_group(alias.args["alias"]):
            _repeat_expression(alias, dialect, ", ")
    for column in find_nodes(query, exp.Column):
        if not _is_group(column) or column.root() is not query:
            continue
        if isinstance(column.parent, _COLUMN_LISTS):
            column.replace(
                exp.var(f"{{{{ {PACKAGE}.group_columns(groups, '{_find_qualifier(column)}') }}}}")
            )
        else:
            _repeat_expression(_find_comparison(column, dialect), dialect, " AND ")


def _format_sql(tree: exp.Expr, dialect: str) -> str:
    return format_tree(tree, dialect, pretty=False)[0]


def _is_group(column: exp.Expr) -> bool:
    return column.name.lower() == SOURCE_GROUP_COLUMN


def _find_qualifier(column: exp.Expr) -> str:
    """Return the table before a column with a dot, nothing if there is none."""
    return f"{column.args['table'].name}." if column.args.get("table") else ""


def _find_comparison(column: exp.Column, dialect: str) -> exp.Expr:
    """Find the condition that compares two groups, of which a column is part."""
    condition: exp.Expr = column
    while isinstance(condition.parent, (*_CONDITIONS, *_COMPARED_VALUES)) and all(
        _is_group(other) for other in find_nodes(condition.parent, exp.Column)
    ):
        condition = condition.parent
    if not isinstance(condition, _CONDITIONS):
        raise MetricError(
            f"the group in {_format_sql(column.parent or column, dialect)} cannot be a list of"
            " columns"
        )
    return condition


def _repeat_expression(node: exp.Expr, dialect: str, separator: str) -> None:
    """Replace an expression of the group in place by one for each column of the group."""
    for identifier in find_nodes(node, exp.Identifier):
        if _is_group(identifier):
            identifier.replace(exp.var(f"{SOURCE_GROUP_COLUMN}_{{{{ loop.index }}}}"))
    text = _format_sql(
        node if isinstance(node, (exp.Paren, exp.Alias)) else exp.paren(node), dialect
    )
    node.replace(
        exp.var(
            f"{{% for _ in groups %}}{text}{{% if not loop.last %}}{separator}{{% endif %}}{{%"
            " endfor %}"
        )
    )


ADAPTERS = tuple(name for name, dialect in DIALECTS.items() if dialect.has_dbt_macros)
"""Adapters of dbt, which are called as their dialects. That of Databricks uses the macros of Spark,
whose statements are the same.
"""

INPUT_MACROS = ("rankings", "rankings_by_query", "predictions", "clusters")
"""Functions of ``sql/install/table_functions.toml`` that the package has by default; its generic
tests call them.
"""

MEAN_MACRO, MEAN_METRIC, MEAN_CONFIDENCE = "mean_difference", "Mean(difference)", 0.95
"""Macro of the mean of a column with its interval, its metric, and the confidence of the
interval.
"""


@dataclass(frozen=True)
class _Entry:
    """A macro to build: its metrics, the inputs that it takes, and the description of its rows."""

    name: str
    description: str
    metrics: Sequence[SymbolicMetric]
    roles: Sequence[str]
    per_query: bool = False
    confidence: float | None = None


@entry_point
def dbt_package(
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    *,
    compat: str | None = None,
    sql_dir: str | Path | None = None,
    **policies: Unpack[Policies],
) -> dict[str, str]:
    """Return the files of a dbt package with macros of metrics: texts by their place in the
    package.

    Args:
        metrics: metrics that get a macro of their own, beside those of inputs.
        compat: compatibility mode, as of :func:`sqlrank.evaluate`.
        sql_dir: a directory with metrics, relations and functions of your own.
        **policies: policies that the numbers follow, such as ``ties="rank"``.

    Raises:
        MetricError: a metric or a policy does not exist, is read by none of the metrics, or cannot
            be written for any adapter.
        SqlrankError: PyYAML is not installed.
    """
    requested = (
        []
        if metrics is None
        else [metrics]
        if isinstance(metrics, (str, Metric))
        else list(metrics)
    )
    options = installation_options(ADAPTERS[0], compat, sql_dir, policies)
    inputs, read, omitted = _input_entries(options), set[str](), []
    entries = [*inputs, *(_metric_entry(str(metric), options) for metric in requested)]
    macros = []
    for entry in entries:
        try:
            macros.append(_build_macro(entry, options, read))
        except MetricError as error:
            if entry not in inputs:
                raise
            omitted.append(str(error))
    if unread := sorted(options.policies.keys() - read):
        raise MetricError(f"{unread[0]} is read by none of these metrics. Leave it out")
    settings = [
        *([] if compat is None else [f"compat={compat}"]),
        *(f"{name}={value}" for name, value in options.policies.items()),
    ]
    title = ", ".join([f"sqlrank {__version__}: dbt package", *settings])
    project = "".join(
        f"# {line}\n" for line in (title, *(f"no macro: {reason}" for reason in omitted))
    )
    files = {
        "dbt_project.yml": f"{project}{_format_yaml(_build_project())}",
        "macros/properties.yml": f"# {title}\n{_format_yaml(_build_properties(macros))}",
    }
    texts_by_place = {f"macros/{macro.name}.sql": macro.dispatcher for macro in macros}
    texts_by_place |= {
        f"macros/{adapter}__{macro.name}.sql": macro.adapter_macro(adapter)
        for macro in macros
        for adapter in macro.queries
    }
    texts_by_place |= {
        f"macros/{path.name}": path.read_text("utf-8")
        for path in sorted((sql_root() / "install" / "dbt").glob("*.sql"))
    }
    texts_by_place["macros/directions.sql"] = _write_directions(entries, options)
    return files | {place: f"{{# {title} #}}\n{text}" for place, text in texts_by_place.items()}


def write_dbt_package(
    folder: Path, force: bool, metrics: Sequence[str] | None, **options: Any
) -> list[Path]:
    """Write the files of a dbt package into a folder, which is made if it does not exist; return
    their paths.

    Raises:
        SqlrankError: A file of the same name was not written as part of a package, unless
            ``force``; or none can be written.
    """
    files = dbt_package(metrics, **options)
    try:
        (folder / "macros").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SqlrankError(
            f"--dbt {folder}: no folder can be made: {error.strerror}. Name another one"
        ) from error
    outputs = [
        (OutputFile(folder / place, FileKind.DBT_PACKAGE, "--dbt", force), text)
        for place, text in files.items()
    ]
    for file, _ in outputs:
        file.check_content()
    write_files(outputs)
    return [file.path for file, _ in outputs]


def _input_entries(options: InstallationOptions) -> list[_Entry]:
    """Return the macros of inputs, and that of a mean with its interval."""
    declared = read_toml(sql_root() / "install" / "table_functions.toml")
    entries = []
    for name in INPUT_MACROS:
        entry = declared[name]
        metrics = [
            SymbolicMetric.parse(text, options.library).restrict_to_cutoff()
            for text in entry["metrics"]
        ]
        entries.append(
            _Entry(
                name, entry["description"], metrics, entry["inputs"], entry.get("per_query", False)
            )
        )
    mean = SymbolicMetric.parse(MEAN_METRIC, options.library)
    description = (
        f"Mean of differences of queries, with its interval at {MEAN_CONFIDENCE:.0%}, one row per"
        " group."
    )
    return [
        *entries,
        _Entry(MEAN_MACRO, description, [mean], ["queries"], confidence=MEAN_CONFIDENCE),
    ]


def _metric_entry(text: str, options: InstallationOptions) -> _Entry:
    metric = SymbolicMetric.parse(text, options.library)
    if metric.file.measures_column:
        raise MetricError(
            f"{text} reads a column of yours, for which SQL has an aggregate. Leave it out"
        )
    return _Entry(metric.column, metric.file.description, [metric], find_roles(metric, options))


def _build_macro(entry: _Entry, options: InstallationOptions, read_policies: set[str]) -> DbtMacro:
    """Return a macro with its statements, and add the policies that it reads."""
    queries: dict[str, str] = {}
    reasons: list[str] = []
    statement: SymbolicStatement | None = None
    for adapter in ADAPTERS:
        try:
            compiled = compile_symbolic(
                entry.metrics,
                entry.roles,
                replace(options, dialect=adapter),
                entry.per_query,
                entry.confidence,
            )
            queries[adapter] = build_dbt_query(compiled, adapter)
        except MetricError as error:
            reasons.append(" ".join(str(error).split()))
        else:
            statement = compiled
    if statement is None:
        raise MetricError(f"{entry.name} can be written for no adapter: {reasons[0]}")
    read_policies.update(statement.request.call.policies)
    columns = [
        name
        for name, output in zip(statement.columns, statement.statement.outputs, strict=True)
        if output.kind != "by"
    ]
    return DbtMacro(
        entry.name,
        entry.description,
        statement.read_columns,
        statement.parameters,
        columns,
        queries,
    )


def _write_directions(entries: Iterable[_Entry], options: InstallationOptions) -> str:
    """Return the macro that says in which direction the columns of results are better."""
    metrics = {
        metric.column: str(metric.metric)
        for entry in entries
        for metric in entry.metrics
        if entry.name != MEAN_MACRO
    }
    directions = {
        column: better_direction(metric, options.library) for column, metric in metrics.items()
    }
    lines = ",\n".join(
        f"    '{column}': '{direction}'"
        for column, direction in directions.items()
        if direction != "neither"
    )
    about = "Return in which direction the columns of results are better, of those that have one."
    return (
        f"{{% macro metric_directions() %}}\n  {{#- {about} -#}}\n  {{{{- return({{\n{lines}\n  }})"
        " -}}\n{% endmacro %}\n"
    )


def _build_project() -> dict[str, Any]:
    """Return the content of the file of the project."""
    return {
        "name": PACKAGE,
        "version": __version__,
        "config-version": 2,
        "require-dbt-version": [">=1.8.0", "<3.0.0"],
        "macro-paths": ["macros"],
    }


def _build_properties(macros: Iterable[DbtMacro]) -> dict[str, Any]:
    """Return the content of the file that describes macros and their arguments."""
    return {"version": 2, "macros": [_describe_macro(macro) for macro in macros]}


def _describe_macro(macro: DbtMacro) -> dict[str, Any]:
    """Return the description of a macro and its arguments."""
    parameters = {parameter.name: parameter for parameter in macro.parameters}
    by, columns = (
        "columns of groups: a name, a list of names, or expressions by name",
        "names of your columns by the names that are read, such as {'label': 'clicked'}",
    )
    descriptions = {
        **{
            role: f"relation or query in parentheses, with the columns {', '.join(read)}"
            for role, read in macro.inputs.items()
        },
        **{name: parameter.about for name, parameter in parameters.items()},
        "by": by,
        "columns": columns,
    }
    arguments = [{"name": name, "description": descriptions[name]} for name, _ in macro.arguments]
    return {
        "name": macro.name,
        "description": f"{macro.description} Columns: {', '.join(macro.columns)}.",
        "arguments": arguments,
    }


def _format_yaml(content: Mapping[str, Any]) -> str:
    """Return the text of a YAML file."""
    try:
        import yaml  # an optional dependency
    except ImportError:
        raise SqlrankError("--dbt needs PyYAML. Run pip install pyyaml") from None
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)
    return text
