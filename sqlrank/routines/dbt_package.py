"""Build and write a dbt package with macros of metrics for several adapters, and generic tests of metrics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.argument_checks import entry_point
from sqlrank.errors import MetricError, SqlrankError
from sqlrank.output.file_kinds import FileKind
from sqlrank.output.output_file import OutputFile, write_files
from sqlrank.registry.metric import Metric
from sqlrank.registry.metric_info import better_direction
from sqlrank.registry.sql_folder import read_toml, sql_root
from sqlrank.routines.dbt_macros import PACKAGE, DbtMacro, build_dbt_query
from sqlrank.routines.symbolic_statement import InstallationOptions, SymbolicMetric, compile_symbolic, find_roles, installation_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from sqlrank.routines.symbolic_statement import SymbolicStatement

ADAPTERS = ("duckdb", "bigquery", "snowflake", "postgres", "redshift", "spark")
"""Adapters of dbt, which are called as their dialects. That of Databricks uses the macros of Spark, whose statements are the same."""

INPUT_MACROS = ("rankings", "rankings_by_query", "predictions", "clusters")
"""Functions of ``sql/table_functions.toml`` that the package has by default; its generic tests call them."""

MEAN_MACRO, MEAN_METRIC, MEAN_CONFIDENCE = "mean_difference", "Mean(difference)", 0.95
"""Macro of the mean of a column with its interval, its metric, and the confidence of the interval."""


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
    **policies: Any,
) -> dict[str, str]:
    """Return the files of a dbt package with macros of metrics: texts by their place in the package.

    Args:
        metrics: metrics that get a macro of their own, beside those of inputs.
        compat: compatibility mode, as of :func:`sqlrank.evaluate`.
        sql_dir: a directory with metrics, relations and functions of your own.
        **policies: policies that the numbers follow, such as ``ties="rank"``.

    Raises:
        MetricError: a metric or a policy does not exist, is read by none of the metrics, or cannot be written for any adapter.
        SqlrankError: PyYAML is not installed.
    """
    requested = [] if metrics is None else [metrics] if isinstance(metrics, (str, Metric)) else list(metrics)
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
    settings = [*([] if compat is None else [f"compat={compat}"]), *(f"{name}={value}" for name, value in options.policies.items())]
    title = ", ".join([f"sqlrank {__version__}: dbt package", *settings])
    project = "".join(f"# {line}\n" for line in (title, *(f"no macro: {reason}" for reason in omitted)))
    files = {
        "dbt_project.yml": f"{project}{_format_yaml(_build_project())}",
        "macros/properties.yml": f"# {title}\n{_format_yaml(_build_properties(macros))}",
    }
    texts_by_place = {f"macros/{macro.name}.sql": macro.dispatcher for macro in macros}
    texts_by_place |= {f"macros/{adapter}__{macro.name}.sql": macro.adapter_macro(adapter) for macro in macros for adapter in macro.queries}
    texts_by_place |= {f"macros/{path.name}": path.read_text("utf-8") for path in sorted((sql_root() / "dbt").glob("*.sql"))}
    texts_by_place["macros/directions.sql"] = _write_directions(entries, options)
    return files | {place: f"{{# {title} #}}\n{text}" for place, text in texts_by_place.items()}


def write_dbt_package(folder: Path, force: bool, metrics: Sequence[str] | None, **options: Any) -> list[Path]:
    """Write the files of a dbt package into a folder, which is made if it does not exist; return their paths.

    Raises:
        SqlrankError: A file of the same name was not written as part of a package, unless ``force``; or none can be written.
    """
    files = dbt_package(metrics, **options)
    try:
        (folder / "macros").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SqlrankError(f"--dbt {folder}: no folder can be made: {error.strerror}. Name another one") from error
    outputs = [(OutputFile(folder / place, FileKind.DBT_PACKAGE, "--dbt", force), text) for place, text in files.items()]
    for file, _ in outputs:
        file.check_content()
    write_files(outputs)
    return [file.path for file, _ in outputs]


def _input_entries(options: InstallationOptions) -> list[_Entry]:
    """Return the macros of inputs, and that of a mean with its interval."""
    declared = read_toml(sql_root() / "table_functions.toml")
    entries = []
    for name in INPUT_MACROS:
        entry = declared[name]
        metrics = [SymbolicMetric.parse(text, options.library).restrict_to_cutoff() for text in entry["metrics"]]
        entries.append(_Entry(name, entry["description"], metrics, entry["inputs"], entry.get("per_query", False)))
    mean = SymbolicMetric.parse(MEAN_METRIC, options.library)
    description = f"Mean of differences of queries, with its interval at {MEAN_CONFIDENCE:.0%}, one row per group."
    return [*entries, _Entry(MEAN_MACRO, description, [mean], ["queries"], confidence=MEAN_CONFIDENCE)]


def _metric_entry(text: str, options: InstallationOptions) -> _Entry:
    """Return the macro of a metric."""
    metric = SymbolicMetric.parse(text, options.library)
    if metric.file.measures_column:
        raise MetricError(f"{text} reads a column of yours, for which SQL has an aggregate. Leave it out")
    return _Entry(metric.column, metric.file.description, [metric], find_roles(metric, options))


def _build_macro(entry: _Entry, options: InstallationOptions, read_policies: set[str]) -> DbtMacro:
    """Return a macro with its statements, and add the policies that it reads."""
    queries: dict[str, str] = {}
    reasons: list[str] = []
    statement: SymbolicStatement | None = None
    for adapter in ADAPTERS:
        try:
            compiled = compile_symbolic(entry.metrics, entry.roles, replace(options, dialect=adapter), entry.per_query, entry.confidence)
            queries[adapter] = build_dbt_query(compiled, adapter)
        except MetricError as error:
            reasons.append(" ".join(str(error).split()))
        else:
            statement = compiled
    if statement is None:
        raise MetricError(f"{entry.name} can be written for no adapter: {reasons[0]}")
    read_policies.update(statement.request.original.policies)
    columns = [name for name, output in zip(statement.columns, statement.statement.outputs, strict=True) if output.kind != "by"]
    return DbtMacro(entry.name, entry.description, statement.read_columns, statement.parameters, columns, queries)


def _write_directions(entries: Iterable[_Entry], options: InstallationOptions) -> str:
    """Return the macro that says in which direction the columns of results are better."""
    metrics = {metric.column: str(metric.metric) for entry in entries for metric in entry.metrics if entry.name != MEAN_MACRO}
    directions = {column: better_direction(metric, options.library) for column, metric in metrics.items()}
    lines = ",\n".join(f"    '{column}': '{direction}'" for column, direction in directions.items() if direction != "neither")
    about = "Return in which direction the columns of results are better, of those that have one."
    return f"{{% macro metric_directions() %}}\n  {{#- {about} -#}}\n  {{{{- return({{\n{lines}\n  }}) -}}}}\n{{% endmacro %}}\n"


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
        **{role: f"relation or query in parentheses, with the columns {', '.join(read)}" for role, read in macro.inputs.items()},
        **{name: parameter.about for name, parameter in parameters.items()},
        "by": by,
        "columns": columns,
    }
    arguments = [{"name": name, "description": descriptions[name]} for name, _ in macro.arguments]
    return {"name": macro.name, "description": f"{macro.description} Columns: {', '.join(macro.columns)}.", "arguments": arguments}


def _format_yaml(content: Mapping[str, Any]) -> str:
    """Return the text of a YAML file."""
    try:
        import yaml  # noqa: PLC0415  an optional dependency
    except ImportError:
        raise SqlrankError("--dbt needs PyYAML. Run pip install pyyaml") from None
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)
    return text
