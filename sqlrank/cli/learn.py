"""Run the command ``sqlrank learn``, which trains a linear scorer or merges several, and prints
weights or the statement that scores rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sqlrank.cli.console import exit_on_error, print_warnings, progress_bar
from sqlrank.cli.parsing import parse_group_columns, parse_pairs
from sqlrank.errors import SqlrankError
from sqlrank.output.output_file import FileKind
from sqlrank.output.result_formats import resolve_format, write_result
from sqlrank.rendering.dialects import normalize_dialect

if TYPE_CHECKING:
    from sqlrank.cli.options import CommandCall


def learn(call: CommandCall) -> None:
    """Train a linear scorer on pAp@k or by logistic regression, and print its weights or a
    statement that scores rows.
    """
    with exit_on_error():
        form = resolve_format(call.format, call.output) if call.score_table is None else None
        file = call.output_file(
            FileKind.STATEMENT if form is None else FileKind.WEIGHTS, ("examples", "connection")
        )
    # Engines take half a second that help does not need
    from sqlrank.learn import fit, merge_weights, scoring_sql

    with exit_on_error(), print_warnings(), progress_bar("learning") as progress:
        columns = _parse_columns(call.columns)
        if call.merge is not None:
            weights = merge_weights(
                call.merge, **call.read_arguments("merge_weights", columns=columns)
            )
        else:
            by = parse_group_columns(call.by)
            weights = fit(**call.read_arguments("fit", columns=columns, by=by, progress=progress))
    with exit_on_error():
        if form is not None:
            write_result(weights, form, FileKind.WEIGHTS, file)
            return
        text = (
            scoring_sql(weights, str(call.score_table), dialect=normalize_dialect(call.dialect))
            + ";\n"
        )
        if file is None:
            typer.echo(text, nl=False)
        else:
            file.write(text)


def _parse_columns(mappings: list[str] | None) -> dict[str, Any]:
    """Parse column mappings; several features are one column each."""
    feature_columns = [
        mapping.removeprefix("features=")
        for mapping in mappings or []
        if mapping.startswith("features=")
    ]
    rest = parse_pairs(
        "--column", [mapping for mapping in mappings or [] if not mapping.startswith("features=")]
    )
    if not all(feature_columns):
        raise SqlrankError("--column features=: write --column features=name")
    return rest | (
        {}
        if not feature_columns
        else {"features": feature_columns if len(feature_columns) > 1 else feature_columns[0]}
    )
