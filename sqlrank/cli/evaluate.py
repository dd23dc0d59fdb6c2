"""Run the command ``sqlrank evaluate``, which evaluates metrics of rows or of a rollup, and prints
or writes them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import sqlrank
from sqlrank.cli.console import echo_message, echo_notes, exit_on_error, progress_bar
from sqlrank.cli.option_messages import as_option_message
from sqlrank.errors import SqlrankError
from sqlrank.output.display import append_total, null_reasons, sort_and_limit
from sqlrank.output.output_file import FileKind
from sqlrank.output.result_formats import TableStyle, resolve_format, write_result
from sqlrank.registry.loader import registry_for

if TYPE_CHECKING:
    from sqlrank.cli.options import CommandCall


def evaluate(call: CommandCall) -> None:
    """Evaluate metrics and print them."""
    with exit_on_error():
        form = resolve_format(call.format, call.output, call.digits)
        file = call.output_file(FileKind.METRICS)
    with exit_on_error(), progress_bar("evaluating") as progress:
        if call.with_total and not call.per_query:
            raise SqlrankError("--with-total is for --per-query")
        evaluated = partial(sqlrank.evaluate, **call.read_arguments(progress=progress))
        result = evaluated()
        displayed = sort_and_limit(result, registry_for(call.sql_dir), call.sort, call.top)
        displayed = (
            append_total(displayed, evaluated(per_query=False)) if call.with_total else displayed
        )
    with exit_on_error():
        write_result(
            displayed,
            form,
            FileKind.METRICS,
            file,
            TableStyle(call.digits, call.with_total, is_command=True),
        )
    echo_notes(result)
    for reason in null_reasons(result):
        echo_message(f"note: {as_option_message(reason)}")
    searched = result.schema.metadata.get(b"sqlrank.duplicates_searched", b"none").decode()
    if searched not in {"all rows", "none"}:
        echo_message(
            f"note: searched for duplicates among {searched} only. --check full searches all"
        )
