"""Run the commands of the command line: call the functions of their names, and write what these
return by the options, of verdicts also the summary, JUnit report and annotations, with an exit
status.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager, suppress
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any

import typer

import sqlrank
from sqlrank.cancellation import WORKER_THREAD_NAME
from sqlrank.charts.export import chart_bytes, check_suffix, warm_up_renderer
from sqlrank.cli.console import (
    HANGING_INDENT,
    as_option_message,
    echo_message,
    echo_notes,
    ignore_closed_pipe,
    print_warnings,
    progress_bar,
)
from sqlrank.cli.options import (
    parse_group_columns,
    parse_groupings,
    parse_pairs,
    parse_policies,
    parse_tolerance_options,
)
from sqlrank.errors import MetricError, SqlrankError, join_words
from sqlrank.options import get_flag
from sqlrank.output.ci_reports import (
    ALL_SKIPPED,
    format_junit,
    format_junit_error,
    github_annotations,
    is_all_skipped,
    list_regressions,
    markdown_summary,
)
from sqlrank.output.display import (
    TextColumn,
    append_total,
    lay_out,
    null_reasons,
    sort_and_limit,
    supports_color,
    terminal_width,
    wrap_text,
)
from sqlrank.output.output_file import FileKind, OutputFile, check_distinct
from sqlrank.output.result_formats import (
    HUMAN_FORMATS,
    Format,
    TableStyle,
    resolve_format,
    write_result,
)
from sqlrank.registry.loader import registry_for
from sqlrank.registry.metric import normalize_name
from sqlrank.registry.metric_info import find_metric, is_search_phrase
from sqlrank.registry.settings_checks import list_settings
from sqlrank.registry.sql_folder import read_toml, sql_root
from sqlrank.rendering.dialects import normalize_dialect
from sqlrank.result_metadata import read_parquet
from sqlrank.routines import DEFAULT_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from sqlrank.cli.options import CommandCall
    from sqlrank.registry.metric import Metric
    from sqlrank.registry.registry import Registry
    from sqlrank.registry.sql_file import SqlFile

MAX_PRINTED = 3
"""Queries, and groups, of a metric that are printed if a gate does not pass; the summary has
ten.
"""

EXITS = {"pass": 0, "fail": 1, "inconclusive": 3}
COLORS = {"pass": typer.colors.GREEN, "fail": typer.colors.RED, "inconclusive": typer.colors.YELLOW}


class ResultOutput:
    """The format and file of a result, checked before any work; without a file it is printed.

    ``names`` are the options of the sources that the file must not be.
    """

    def __init__(
        self, call: CommandCall, kind: FileKind, names: Collection[str] | None = None
    ) -> None:
        self.kind, self.digits = kind, call.values.get("digits")
        self.form = resolve_format(call.format, call.output, self.digits)
        self.file = call.output_file(kind, names)

    @property
    def is_text_printed(self) -> bool:
        """Return True if people read the result on standard output."""
        return self.form in HUMAN_FORMATS and self.file is None

    def write(self, result: pa.Table, *, has_total: bool = False) -> None:
        """Write the result."""
        style = TableStyle(self.digits, has_total, is_command=True)
        write_result(result, self.form, self.kind, self.file, style)


class VerdictOutput:
    """The output of a command with verdicts: its result, a file that a Markdown summary is appended
    to, and a JUnit report.
    """

    def __init__(self, call: CommandCall, kind: FileKind) -> None:
        self.command, self.treat_inconclusive_as = call.command.name, call.treat_inconclusive_as
        self.result = ResultOutput(call, kind)
        if self.treat_inconclusive_as not in {None, "pass", "fail"}:
            raise SqlrankError(
                f"--treat-inconclusive-as {call.treat_inconclusive_as}: give pass or fail"
            )
        sources = call.list_sources()
        self.summary = call.summary and OutputFile(
            call.summary, FileKind.SUMMARY, "--summary", call.force, appends=True, sources=sources
        )
        self.junit = call.junit and OutputFile(
            call.junit, FileKind.JUNIT, "--junit", call.force, sources=sources
        )
        check_distinct([self.result.file, self.summary, self.junit])

    @contextmanager
    def report_error(self) -> Iterator[None]:
        """Write an error without verdicts to the JUnit report, where CI would publish an earlier
        result, and raise it again.
        """
        try:
            yield
        except BaseException as error:
            if self.junit is not None:
                message = as_option_message(str(error).strip() or type(error).__name__)
                with suppress(OSError, SqlrankError):  # the error itself is raised
                    self.junit.write(format_junit_error(message, self.command))
            raise

    def write_and_exit(self, result: pa.Table) -> None:
        """Write all outputs, and exit with the status of the verdict.

        A closed standard output does not change the exit status. If all rows are skipped, an
        inconclusive verdict is not treated as a pass.
        """
        verdict = (result.schema.metadata or {})[b"sqlrank.verdict"].decode()
        treated = self.treat_inconclusive_as if verdict == "inconclusive" else None
        is_blocked = treated == "pass" and is_all_skipped(result)
        if self.summary is not None:
            self.summary.append(markdown_summary(result, self.result.digits, self.command))
        if self.junit is not None:
            self.junit.write(format_junit(result, self.command, self.treat_inconclusive_as))
        annotations = (
            github_annotations(result, self.command, self.treat_inconclusive_as)
            if os.environ.get("GITHUB_ACTIONS") == "true"
            else ()
        )
        line = f"verdict: {verdict}"
        with ignore_closed_pipe():
            if self.result.is_text_printed:
                typer.echo(
                    typer.style(line, fg=COLORS[verdict], bold=True) if supports_color() else line
                )
            self.result.write(result)
            if verdict != "pass" and self.result.is_text_printed:
                for text in list_regressions(result, MAX_PRINTED):
                    typer.echo("\n".join(wrap_text(text, terminal_width() or len(text))))
        for annotation in annotations:
            typer.echo(annotation, err=True)
        if not self.result.is_text_printed:
            typer.echo(line, err=True)
        if is_blocked:
            echo_message(f"note: {ALL_SKIPPED}, and --treat-inconclusive-as pass does not apply")
        raise typer.Exit(EXITS[verdict if is_blocked else treated or verdict])


def evaluate(call: CommandCall) -> None:
    """Evaluate metrics of rows or of a rollup."""
    output = ResultOutput(call, FileKind.METRICS)
    if call.with_total and not call.per_query:
        raise SqlrankError("--with-total is for --per-query")
    with progress_bar("evaluating") as progress:
        evaluated = partial(sqlrank.evaluate, **call.read_arguments(progress=progress))
        result = evaluated()
        displayed = sort_and_limit(result, registry_for(call.sql_dir), call.sort, call.top)
        if call.with_total:
            displayed = append_total(displayed, evaluated(per_query=False))
    output.write(displayed, has_total=call.with_total)
    echo_notes(result)
    for reason in null_reasons(result):
        echo_message(f"note: {as_option_message(reason)}")
    searched = result.schema.metadata.get(b"sqlrank.duplicates_searched", b"none").decode()
    if searched not in {"all rows", "none"}:
        echo_message(
            f"note: searched for duplicates among {searched} only. --check full searches all"
        )


def sql(call: CommandCall) -> None:
    """Print the statement that computes or stores metrics, or write it as a dbt model."""
    if call.dbt is not None:
        unread = ("connection", "rollup", "create_table", "create_view", "insert", "output")
        arguments = call.read_arguments("dbt_model")
        _refuse_unread(call, unread)
        kind = FileKind.STATEMENT if call.audit else FileKind.DBT_METRICS
        _write_model(call, kind, "dbt_model", arguments)
        return
    if call.materialized is not None:
        raise SqlrankError("--materialized is for --dbt")
    if call.force and call.output is None:
        raise SqlrankError(
            "--force is for --dbt and -o, which write files. Leave it out, or name one"
        )
    file = call.output_file(FileKind.STATEMENT, names=())
    _write_text(f"{sqlrank.sql(**call.read_arguments())};\n", file)


def _refuse_unread(call: CommandCall, unread: Sequence[str]) -> None:
    """Raise ``SqlrankError`` for an option that dbt models do not support."""
    if clash := next((name for name in unread if call.values[name]), None):
        raise SqlrankError(
            f"{get_flag(clash)} is not for --dbt, which writes a model over models and sources"
        )


def _write_model(
    call: CommandCall, kind: FileKind, function: str, arguments: dict[str, Any]
) -> None:
    """Write a dbt model and its YAML file."""
    from sqlrank.output.dbt import write_dbt_files  # engines take half a second

    for file in write_dbt_files(
        call.dbt,
        kind,
        call.force,
        call.list_sources(names=()),
        lambda name: getattr(sqlrank, function)(name=name, **arguments),
    ):
        typer.echo(f"wrote {file}", err=True)


def _write_text(text: str, file: OutputFile | None) -> None:
    if file is None:
        typer.echo(text, nl=False)
    else:
        file.write(text)


LISTED_COLUMNS = ["name", "family", "parameters", "description"]
PARAMETERS_WIDTH = 120
"""Width of a terminal from which a list of metrics shows their parameters."""


def metrics(call: CommandCall) -> None:
    """Find metrics by words, list all, or show the SQL file of one."""
    name = " ".join(call.name or ()) or None
    library = registry_for(call.sql_dir)
    if name is None:
        _print_tasks(call.format)
        _print_list(sqlrank.metrics(call.sql_dir), call.format)
        return
    try:
        spelled = "-".join(name.split()) if name.replace(" ", "").isalpha() else name
        metric, metric_file = find_metric(spelled, library)
    except MetricError as error:
        matching_metrics = sqlrank.metrics(call.sql_dir, search=name)
        if not matching_metrics.num_rows and " " in name:
            raise MetricError(f"nothing found for {name!r}. sqlrank metrics lists all") from error
        is_misspelt = (
            "Did you mean" in str(error)
            and set(matching_metrics["family"].to_pylist()) <= {"page"}
            and not is_search_phrase(name, library)  # a page may quote the same mistake
        )
        if not matching_metrics.num_rows or is_misspelt:
            raise
        _print_list(matching_metrics, call.format)
        if hint := (
            str(error) if "different things" in str(error) else library.misplaced_name_hint(name)
        ):
            echo_message(f"note: {as_option_message(hint)}")
        return
    if call.format is not None:
        raise SqlrankError(
            f"--format is for the list of metrics, and {name} alone is shown as its SQL file."
            " Leave out one of the two"
        )
    text = metric_file.path.read_text("utf-8")
    if width := terminal_width():
        lines = wrap_file(text, width)
        text = "".join(f"{_style_line(line) if supports_color() else line}\n" for line in lines)
    typer.echo(text, nl=False)
    _print_settings(metric_file, library)
    if similar := _find_similar(name, metric_file, call.sql_dir):
        echo_message(f"note: also found: {', '.join(similar)}")
    if note := _describe_name(name, spelled, metric, metric_file, library):
        echo_message(f"note: {note}")


def _print_settings(file: SqlFile, library: Registry) -> None:
    """Print the values of settings that a metric declares, and the names of others that it has."""
    if choices := _list_choices(file, library):
        echo_message("\n    ".join(["note: settings for --policy, the default first", *choices]))
    further = sorted(list_settings(file, library).difference(file.params, file.declared_settings))
    if further:
        echo_message(
            f"note: {join_words(further)} also decide{'s' * (len(further) == 1)} it. sqlrank"
            f" metrics {further[-1]} says how"
        )


def _list_choices(file: SqlFile, library: Registry) -> list[str]:
    """Return a line for each setting that a metric declares, with its values."""
    lines = []
    for name, choice in file.declared_settings.items():
        values = library.functions.get(name) or map(str, library.allowed_values(name))
        others = [value for value in values if value != choice.default]
        lines.append(", ".join([f"{name}={choice.default}", *others]))
    return lines


MAX_SIMILAR = 6
"""Maximum number of further metrics that are named below one."""


def _find_similar(name: str, file: SqlFile, sql_dir: Path | None) -> list[str]:
    """Return further metrics that a word finds, besides the one that has it as a name."""
    if not name.isalpha():
        return []
    rows = sqlrank.metrics(sql_dir, search=name).to_pylist()
    names = dict.fromkeys(row["name"] for row in rows if row["relation"])
    return [similar for similar in names if similar != file.display_name][:MAX_SIMILAR]


_KEY = re.compile(r"^(-- )(\$?\w[\w ]*(?:\(\))?:)")
_KEYWORD = re.compile(r"\b[A-Z]{2,}\b")


def _style_line(line: str) -> str:
    """Return a line of a SQL file with bold keys of comments and keywords of SQL."""
    if line.startswith("--"):
        return _KEY.sub(lambda match: match[1] + typer.style(match[2], bold=True), line)
    code, dashes, comment = line.partition("--")
    return _KEYWORD.sub(lambda match: typer.style(match[0], bold=True), code) + dashes + comment


def wrap_file(text: str, width: int) -> list[str]:
    """Return the lines of a SQL file wrapped between words, comments as comments: those at the end
    of a line that is too wide stand above it.
    """
    parts: list[str] = []
    for line in text.splitlines():
        code, dashes, comment = line.partition(" -- ")
        is_divided = len(line + HANGING_INDENT) > width and dashes and code.strip()
        indent = line[: len(line) - len(line.lstrip())]
        parts += [f"{indent}-- {comment}", code] if is_divided else [line]
    lines = []
    for line in parts:
        text = line.lstrip(" ")
        indent = line[: len(line) - len(text.removeprefix("--").lstrip(" "))]
        start = indent + HANGING_INDENT
        first, *rest = wrap_text(line.removeprefix(indent), width - len(start))
        lines += [f"{indent}{first}", *(f"{start}{part}" for part in rest)]
    return lines


def _describe_name(
    name: str, spelled: str, metric: Metric, file: SqlFile, library: Registry
) -> str:
    """Return the name of a metric here, or the other metric that the given name may mean; empty if
    there is neither.
    """
    if normalize_name(metric.name) != normalize_name(spelled.partition("@")[0].partition("(")[0]):
        return f"{name} is {metric} here"
    if file.kind == "curves" and file.display_name.lower() in library.metrics:
        return f"{metric}@0.1 is one value: sqlrank metrics {metric}@0.1"
    if ranking := library.synonyms["aliases"].get(f"{normalize_name(name)}@"):
        return f"{name}@k, of ranked documents, is {ranking}: sqlrank metrics {ranking}"
    return ""


def _print_list(table: pa.Table, form: Format | None) -> None:
    """Print a list of metrics; in a narrow terminal without parameters, for which a row would be a
    block of lines.
    """
    width = terminal_width()
    is_narrow = width is not None and width < PARAMETERS_WIDTH and form in {None, Format.table}
    columns = [name for name in LISTED_COLUMNS if not (is_narrow and name == "parameters")]
    style = TableStyle(num_hidden=len(LISTED_COLUMNS) - len(columns))
    write_result(table.select(columns), form or Format.table, FileKind.TABLE, None, style)


def _print_tasks(form: Format | None) -> None:
    """Print the metrics that people look for, by task, to those who read the list in a terminal."""
    width = terminal_width()
    if width is not None and form in {None, Format.table}:
        tasks = read_toml(sql_root() / "settings" / "search.toml")["tasks"]
        columns = [
            TextColumn("task", list(tasks)),
            TextColumn("metrics and commands", list(tasks.values())),
        ]
        typer.echo(lay_out(columns, width))


def compare(call: CommandCall) -> None:
    """Compare systems."""
    output = ResultOutput(call, FileKind.COMPARISON)
    with progress_bar("comparing") as progress:
        result = sqlrank.compare(**call.read_arguments(progress=progress))
    output.write(result)
    echo_notes(result)


def power(call: CommandCall) -> None:
    """Plan the number of queries of a comparison."""
    output = ResultOutput(call, FileKind.POWER)
    output.write(sqlrank.power(**call.read_arguments()))


def gate(call: CommandCall) -> None:
    """Test that a candidate is not worse than a baseline, or that groups do not differ."""
    output = VerdictOutput(call, FileKind.VERDICTS)
    with output.report_error(), progress_bar("gating") as progress:
        by = parse_groupings("--by", call.by) if call.across else _parse_gate_groupings(call.by)
        tolerance = parse_tolerance_options("--tolerance", call.tolerance) or {"*": "0"}
        result = sqlrank.gate(**call.read_arguments(by=by, tolerance=tolerance, progress=progress))
    output.write_and_exit(result)


def _parse_gate_groupings(by: list[str] | None) -> Any:
    """Return the groupings of a gate: all rows, and each named column or grouping."""
    groupings = parse_groupings("--by", by)
    if groupings and isinstance(groupings[0], str):
        groupings = [[name] for name in groupings]
    return groupings and [[], *filter(None, groupings)]


def experiment(call: CommandCall) -> None:
    """Estimate effects of an online experiment, or print the statement that does."""
    named_metrics = _parse_metrics(call.metrics)
    covariates = _parse_covariates(call.covariates, list(named_metrics))
    parsed: dict[str, Any] = {"metrics": named_metrics, "covariates": covariates}
    if _print_statement(call, **parsed):
        return
    output = ResultOutput(call, FileKind.EXPERIMENT)
    with progress_bar("summing") as progress:
        result = sqlrank.experiment(**call.read_arguments(**parsed, progress=progress))
    output.write(result)
    echo_notes(result)


def _print_statement(call: CommandCall, **parsed: Any) -> bool:
    """Print the statement of a command with ``--sql``, and return True; raise ``SqlrankError`` for
    its options without that.
    """
    if call.sql:
        function = f"{call.command.name}_sql"
        arguments = call.read_arguments(function, **parsed)
        typer.echo(getattr(sqlrank, function)(**arguments) + ";")
    elif call.dialect != "duckdb" or call.create_table or call.create_view:
        raise SqlrankError("--dialect, --create-table and --create-view are for --sql")
    return bool(call.sql)


_NAMED_COLUMN = re.compile(r"\s*\w+\s*=[^=]")
_NAMED = re.compile(r"([^=()]+)=(.*)", re.DOTALL)


def _parse_metrics(arguments: list[str]) -> dict[str, str]:
    """Parse ``Mean(x)`` and ``name=Mean(x)``."""
    metric_texts: dict[str, str] = {}
    for argument in arguments:
        match = _NAMED.fullmatch(argument)
        name, text = match.groups() if match else (argument, argument)
        if name in metric_texts:
            raise SqlrankError(f"{argument}: {name} is given twice")
        metric_texts[name] = text
    return metric_texts


def _parse_covariates(texts: list[str] | None, names: list[str]) -> dict[str, str]:
    """Parse ``metric=column``, or a bare column if there is only one metric."""
    columns_by_metric: dict[str, str] = {}
    for text in texts or []:
        name = next(
            (name for name in names if text.startswith(f"{name}=")),
            names[0] if len(names) == 1 else None,
        )
        # Without this, revenue=revenue_before under a misspelt name is a comparison, whose truth
        # would be the covariate.
        if name is None or (_NAMED_COLUMN.match(text) and not text.startswith(f"{name}=")):
            alone = ", or the column alone" if len(names) == 1 else ""
            raise SqlrankError(
                f"--covariate {text}: write --covariate METRIC=COLUMN{alone}. The metrics are"
                f" called: {', '.join(names)}"
            )
        if name in columns_by_metric:
            raise SqlrankError(f"--covariate {text}: {name} is given twice")
        columns_by_metric[name] = text.removeprefix(f"{name}=")
    return columns_by_metric


def chart(call: CommandCall) -> None:
    """Draw metrics, a curve or a stored result as an image or an HTML page."""
    file = call.output_file(FileKind.CHART)
    if file is None:
        raise SqlrankError("name the file to draw with -o, such as -o roc.svg")
    check_suffix(file)
    from sqlrank.charts.chart_kinds import check_kind  # Altair takes half a second

    check_kind(call.kind)
    if (call.result is None) is (not call.metrics):
        raise SqlrankError(
            "name what to draw, such as ROC, or a stored result with --result FILE: one of the two"
        )
    # Process exit does not wait for threads of this name, which matters if an error leaves nothing
    # to draw.
    warm_up = Thread(
        target=warm_up_renderer, args=(file.path,), name=WORKER_THREAD_NAME, daemon=True
    )
    warm_up.start()
    with progress_bar("evaluating") as progress:
        table = (
            sqlrank.evaluate(**call.read_arguments("evaluate", progress=progress))
            if call.result is None
            else _read_stored_result(call.result)
        )
    warm_up.join()
    displayed = sort_and_limit(table, registry_for(call.sql_dir), call.sort, call.top)
    file.write(chart_bytes(sqlrank.chart(displayed, call.kind, title=call.title), file.path))


def _read_stored_result(path: Path) -> Any:
    """Return a result stored as Parquet."""
    if not path.is_file():
        raise SqlrankError(
            f"--result {path}: there is no such file. Store a result with -o"
            f" {path.with_suffix('.parquet').name}"
        )
    return read_parquet(
        path,
        f"--result {path}",
        "Other formats do not keep the metadata of columns. Write the result again with -o"
        " result.parquet",
    )


def explain(call: CommandCall) -> None:
    """Print a metric value with the rows of its intermediate CTEs."""
    explanation = sqlrank.explain(**call.read_arguments())
    typer.echo(explanation.to_text(terminal_width(), call.steps))
    if not call.steps:
        typer.echo(f"\n{len(explanation.steps)} steps of the statement: --steps")


def report(call: CommandCall) -> None:
    """Write results of several calls as one HTML page."""
    if call.output is None:
        raise SqlrankError("name the file to write with -o, such as -o report.html")
    from sqlrank.reports.report import page_file, require_report_modules

    require_report_modules()
    file = page_file(call.output, "-o", call.force, call.list_sources())
    with progress_bar("reporting") as progress:
        page = sqlrank.report(**call.read_arguments(progress=progress))
    file.write(page.html)


def split(call: CommandCall) -> None:
    """Split rows into parts or experiment arms, or print the statement that does."""
    if not _print_statement(call):
        output = ResultOutput(call, FileKind.SPLIT)
        output.write(sqlrank.split(**call.read_arguments()))


def rollup(call: CommandCall) -> None:
    """Build a rollup, insert its rows, print its statement, or write its dbt model."""
    by = parse_group_columns(call.by)
    if call.sql:
        typer.echo(sqlrank.rollup_sql(**call.read_arguments("rollup_sql", by=by)) + ";")
        return
    if call.dbt is not None:
        arguments = call.read_arguments("rollup_model", by=by)
        unread = ("connection", "insert", "overwrite_by", "retract", "batch_where", "inputs")
        _refuse_unread(call, unread)
        if call.begin is None:
            raise SqlrankError("--dbt needs --begin, the first day, such as --begin 2026-01-01")
        _write_model(call, FileKind.DBT_ROLLUP, "rollup_model", arguments)
        return
    if call.begin is not None:
        raise SqlrankError("--begin is for --dbt")
    if call.dialect != "duckdb" or call.create_table:
        raise SqlrankError("--dialect and --create-table are for --sql (--dialect for --dbt, too)")
    output = ResultOutput(call, FileKind.ROLLUP)
    result = sqlrank.rollup(**call.read_arguments(by=by))
    if call.insert is None or call.output is not None:
        output.write(result)
    if call.insert is not None:
        rows = f"{result.num_rows:,} row{'s' * (result.num_rows != 1)}"
        typer.echo(f"inserted {rows} into {call.insert}", err=True)
    echo_notes(result)


def drift(call: CommandCall) -> None:
    """Compare rows of a rollup with reference rows; with a tolerance there are verdicts."""
    if not call.tolerance and (call.treat_inconclusive_as or call.summary or call.junit):
        raise SqlrankError(
            "--treat-inconclusive-as, --summary and --junit are for verdicts, which need"
            " --tolerance"
        )
    output = VerdictOutput(call, FileKind.DRIFT)
    with output.report_error():
        result = sqlrank.drift(**call.read_arguments(by=parse_group_columns(call.by)))
        if not call.tolerance:
            output.result.write(result)
    if call.tolerance:
        output.write_and_exit(result)


def functions(call: CommandCall) -> None:
    """Print a script of metrics as functions of a database, or install them in DuckDB."""
    if call.dbt is not None:
        _write_dbt_package(call)
        return
    file = call.output_file(FileKind.FUNCTIONS, names=())
    db, drop = call.connection, call.drop
    default_schema = "main" if db is not None and db.stem == DEFAULT_SCHEMA else DEFAULT_SCHEMA
    script = sqlrank.functions(**call.read_arguments(schema=call.schema or default_schema))
    if db is not None:
        script.run(db, drop=drop, force=call.force)
        count = len(script.functions)
        done = "dropped" if drop else "installed"
        typer.echo(f"{done} {count} function{'s' * (count != 1)} in {db}", err=True)
    if db is None or file is not None:
        _write_text(script.drop_sql if drop else script.sql, file)


def _write_dbt_package(call: CommandCall) -> None:
    unread = {
        "--schema": call.schema,
        "--drop": call.drop,
        "--db": call.connection,
        "-o": call.output,
        "--weighted": call.weighted,
        "--check off": call.check == "off",
    }
    if flag := next((flag for flag, value in unread.items() if value), None):
        raise SqlrankError(f"{flag} is not for --dbt, which writes a package")
    if call.dialect != "duckdb":
        raise SqlrankError("--dialect is not for --dbt, which writes macros for all adapters")
    from sqlrank.routines.dbt_package import write_dbt_package  # engines take half a second

    policies = parse_policies(call.policies, call.sql_dir)
    files = write_dbt_package(
        call.dbt, call.force, call.metrics, compat=call.compat, sql_dir=call.sql_dir, **policies
    )
    typer.echo(f"wrote {len(files)} files of a dbt package in {call.dbt}", err=True)


def learn(call: CommandCall) -> None:
    """Train a linear scorer or merge several, and print weights or the statement that scores
    rows.
    """
    names = ("examples", "connection")
    if call.score_table is None:
        output = ResultOutput(call, FileKind.WEIGHTS, names)
    else:
        file = call.output_file(FileKind.STATEMENT, names)
    from sqlrank.learn import fit, merge_weights, scoring_sql  # engines take half a second

    with print_warnings(), progress_bar("learning") as progress:
        columns = _parse_feature_columns(call.columns)
        if call.merge is not None:
            weights = merge_weights(
                call.merge, **call.read_arguments("merge_weights", columns=columns)
            )
        else:
            by = parse_group_columns(call.by)
            weights = fit(**call.read_arguments("fit", columns=columns, by=by, progress=progress))
    if call.score_table is None:
        output.write(weights)
    else:
        dialect = normalize_dialect(call.dialect)
        _write_text(scoring_sql(weights, str(call.score_table), dialect=dialect) + ";\n", file)


def _parse_feature_columns(mappings: list[str] | None) -> dict[str, Any]:
    """Parse column mappings; several features are one column each."""
    feature_mappings = [text for text in mappings or [] if text.startswith("features=")]
    columns: dict[str, Any] = dict(
        parse_pairs("--column", [text for text in mappings or [] if text not in feature_mappings])
    )
    features = [text.removeprefix("features=") for text in feature_mappings]
    if not all(features):
        raise SqlrankError("--column features=: write --column features=name")
    if features:
        columns["features"] = features if len(features) > 1 else features[0]
    return columns
