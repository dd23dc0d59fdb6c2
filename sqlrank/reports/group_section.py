"""Build the report section of metrics by group: the worst groups, tables shaded by the difference from all rows, and charts."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import TokenType, exp, tokenize

from sqlrank.call_descriptions import write_command
from sqlrank.inputs.user_sql import parse_condition
from sqlrank.output.reshape import sort_and_limit
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.formatter import format_tree
from sqlrank.reports.blocks import MAX_TABLE_ROWS, Cell, Section, TableBlock, build_figure, format_cell, read_statement, truncate_text
from sqlrank.reports.verdict_sentences import count_things
from sqlrank.result_metadata import read_left_out
from sqlrank.sql_ast import quoted_column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.reports.report_request import ReportRequest

NUM_WORST_GROUPS = 5
"""Number of groups that a sentence names."""

NUM_SHADES = 3
"""Number of shades of differences."""

MAX_GROUPS_DRAWN = 20
"""Approximate number of rows of groups drawn; each group has its own axes."""


def group_section(overall: pa.Table, request: ReportRequest) -> Section:
    """Return the section of metrics by group, a table per grouping, worst group first.

    ``overall`` are the metrics of all rows, from which shades are differences.
    """
    blocks: list[Any] = []
    sentences = []
    values_by_system = {row.get(str(request.system)): row for row in overall.to_pylist()}
    for index, group in enumerate(request.groups):
        result = request.with_intervals(group)
        name = request.names[0]
        worst = sort_and_limit(result, request.library, f"-{name}", None)
        grouping = f"{', '.join(truncate_text(column) for column in group)}, the worst {name} first"
        sentences += [_worst_groups(worst, group, request), *(f"{entry}." for entry in read_left_out(result.schema.metadata))]
        table = _build_group_table(worst, values_by_system, request, f"group-{index}", f"By {grouping}")
        blocks.append(_with_commands(table, worst, group, request) if request.is_ranking else table)
        first_groups, num_omitted = _first_groups(result, worst, request)
        chart_title = f"Metrics by {grouping}" + (f" ({num_omitted:,} more are not drawn)" if num_omitted else "")
        blocks.append(build_figure(partial(first_groups.slice, 0), f"group-{index}-chart", chart_title))
    return Section("groups", "Groups", blocks, sentences)


def _worst_groups(worst: pa.Table, group: list[str], request: ReportRequest) -> str:
    """Return the sentence on the groups with the worst values of the first metric."""
    name = request.names[0]
    rows = [row for row in worst.slice(0, NUM_WORST_GROUPS).to_pylist() if row[name] is not None]
    texts = []
    for row in rows:
        system = f" of {truncate_text(row[request.system])}" if request.system in row else ""
        num_units = row.get(f"{name}.n_units")
        units = f", {count_things(num_units, 'query' if request.is_ranking else 'unit')}" if num_units is not None else ""
        texts.append(f"{', '.join(truncate_text(row[column]) for column in group)} {build_interval_cell(row, name).text}{system}{units}")
    return f"Worst {name} by {', '.join(map(truncate_text, group))}: {'; '.join(texts)}."


def _first_groups(result: pa.Table, worst: pa.Table, request: ReportRequest) -> tuple[pa.Table, int]:
    """Return the rows of the first groups in ``worst``, and the number left out.

    Within a group, systems keep the caller's order, which determines their colors.
    """
    names = [name for name in result.column_names[: result.column_names.index(request.names[0])] if name != request.system]
    keys, order = (list(zip(*(rows[name].to_pylist() for name in names), strict=True)) for rows in (result, worst))
    group_ranks = {key: rank for rank, key in enumerate(dict.fromkeys(order))}
    max_groups = max(1, MAX_GROUPS_DRAWN * len(group_ranks) // max(1, len(keys)))
    row_indices = [row for row in sorted(range(len(keys)), key=lambda row: group_ranks[keys[row]]) if group_ranks[keys[row]] < max_groups]
    return result.take(pa.array(row_indices, pa.int64())), max(0, len(group_ranks) - max_groups)


def _build_group_table(
    result: pa.Table, values_by_system: Mapping[Any, Mapping[str, Any]], request: ReportRequest, ident: str, title: str
) -> TableBlock:
    """Return a table with a column per metric, whose cells hold value and interval, shaded by the difference from all rows."""
    limits = {f"{name}.{end}" for name in request.names for end in ("ci_low", "ci_high", "se", "n_units")}
    keys = [name for name in result.column_names if name not in {*request.names, *limits}]
    rows = result.slice(0, MAX_TABLE_ROWS).to_pylist()
    shades = {name: _choose_shades(rows, values_by_system, name, request) for name in request.names}
    cells = [
        [
            *(format_cell(key, row[key]) for key in keys),
            *(replace(build_interval_cell(row, name), shade=shades[name][index]) for name in request.names),
        ]
        for index, row in enumerate(rows)
    ]
    num_omitted = max(0, result.num_rows - MAX_TABLE_ROWS)
    names = [truncate_text(name) for name in [*keys, *request.names]]
    note = (
        ""
        if not request.has_intervals
        else "Shaded: the interval excludes the value of all rows, which is better (green) or worse (red) in the group. Grey: it does not."
    )
    return TableBlock(ident, title, names, cells, num_omitted, read_statement(result), note, max_rows=request.max_rows)


def _with_commands(table: TableBlock, result: pa.Table, group: Sequence[str], request: ReportRequest) -> TableBlock:
    """Return the table with a command in each row shown first that evaluates the queries of the group, if it has one."""
    rows = result.slice(0, request.max_rows).to_pylist()
    commands = [_query_command(row, group, request) for row in rows]
    cells = [[replace(first, copied=command), *rest] for (first, *rest), command in zip(table.rows, commands, strict=False)]
    return replace(table, rows=[*cells, *table.rows[len(cells) :]])


def _query_command(row: Mapping[str, Any], group: Sequence[str], request: ReportRequest) -> str | None:
    """Return the command that evaluates each query of a group; None for groups by expressions and for sources without names."""
    if request.group_expressions.keys() & set(group) or not all(name in row and isinstance(row[name], (str, int)) for name in group):
        return None
    sources, common = request.arguments_for_system(str(row.get(str(request.system))))
    sqlglot_dialect = get_dialect(request.dialect).sqlglot_name
    conditions = [] if common["where"] is None else [parse_condition(common["where"], sqlglot_dialect)]
    conditions += [exp.EQ(this=_quote_column(name), expression=exp.convert(row[name])) for name in group]
    options = {
        "where": format_tree(exp.and_(*conditions), sqlglot_dialect, pretty=False)[0],
        **{name: common[name] for name in ("inputs", "compat", "sql_dir", "columns")},
    }
    return write_command(
        ["evaluate", request.names[0], "--per-query"],
        {**sources, **options, "policies": request.policies_read_by([request.metrics[0]]), "connection": common["connection"]},
    )


def _quote_column(name: str) -> exp.Column:
    """Return a column, quoted unless its name is a plain word, since shells quote quotes at length."""
    is_word = [token.token_type for token in tokenize(name)] == [TokenType.VAR]
    return exp.column(exp.to_identifier(name)) if is_word else quoted_column(name)


def _significant_difference(row: Mapping[str, Any], overall_value: float | None, name: str) -> float | None:
    """Return the difference of a group's value from that of all rows, None if the interval includes the latter."""
    low, high = row.get(f"{name}.ci_low"), row.get(f"{name}.ci_high")
    if row[name] is None or overall_value is None or low is None or high is None or low <= overall_value <= high:
        return None
    return float(row[name] - overall_value)


def _choose_shades(
    rows: Sequence[Mapping[str, Any]], values_by_system: Mapping[Any, Mapping[str, Any]], name: str, request: ReportRequest
) -> list[str]:
    """Return the class of the style sheet of each row's cell: its verdict and one of ``NUM_SHADES`` strengths, or ``faint``."""
    if not request.has_intervals:
        return [""] * len(rows)
    differences = [_significant_difference(row, values_by_system.get(row.get(str(request.system)), {}).get(name), name) for row in rows]
    largest = max((abs(difference) for difference in differences if difference is not None), default=0.0)
    direction = request.find_direction(name)
    states = {True: "better", False: "worse"} if direction == "higher" else {True: "worse", False: "better"}
    states = dict.fromkeys(states, "differs") if direction == "neither" else states
    return [
        "faint" if difference is None else f"heat {states[difference > 0]}{max(1, round(NUM_SHADES * abs(difference) / largest))}"
        for difference in differences
    ]


def build_interval_cell(row: Mapping[str, Any], name: str) -> Cell:
    """Return a cell of a value with its interval, sorted by the value."""
    value, low, high = (format_cell(name, row.get(column)) for column in (name, f"{name}.ci_low", f"{name}.ci_high"))
    return value if low.number is None or high.number is None else replace(value, text=f"{value.text} ({low.text} to {high.text})")
