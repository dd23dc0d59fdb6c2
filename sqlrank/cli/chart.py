"""Run the command ``sqlrank chart``, which draws metrics, a curve or a stored result as an image or
an HTML page.
"""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING, Any

import sqlrank
from sqlrank.cancellation import WORKER_THREAD_NAME
from sqlrank.charts.export import chart_bytes, check_suffix, warm_up_renderer
from sqlrank.cli.console import exit_on_error, progress_bar
from sqlrank.errors import SqlrankError
from sqlrank.output.display import sort_and_limit
from sqlrank.output.output_file import FileKind, OutputFile
from sqlrank.registry.loader import registry_for
from sqlrank.result_metadata import read_parquet

if TYPE_CHECKING:
    from pathlib import Path

    from sqlrank.cli.options import CommandCall


def chart(call: CommandCall) -> None:
    """Draw metrics, a curve or a stored result as an image or an HTML page."""
    with exit_on_error():
        file = _check_target(call)
        if (call.result is None) is (not call.metrics):
            raise SqlrankError(
                "name what to draw, such as ROC, or a stored result with --result FILE: one of"
                " the two"
            )
    # Process exit does not wait for threads of this name, which matters if an error leaves nothing
    # to draw.
    warm_up = Thread(
        target=warm_up_renderer, args=(file.path,), name=WORKER_THREAD_NAME, daemon=True
    )
    warm_up.start()
    with exit_on_error(), progress_bar("evaluating") as progress:
        is_stored = call.result is not None
        table = (
            _read_stored_result(call.result)
            if is_stored
            else sqlrank.evaluate(**call.read_arguments("evaluate", progress=progress))
        )
    with exit_on_error():
        warm_up.join()
        displayed = sort_and_limit(table, registry_for(call.sql_dir), call.sort, call.top)
        file.write(chart_bytes(sqlrank.chart(displayed, call.kind, title=call.title), file.path))


def _check_target(call: CommandCall) -> OutputFile:
    """Return the output file; raise ``SqlrankError`` for an invalid file or kind before any
    work.
    """
    file = call.output_file(FileKind.CHART)
    if file is None:
        raise SqlrankError("name the file to draw with -o, such as -o roc.svg")
    check_suffix(file)
    from sqlrank.charts.chart_kinds import check_kind  # half a second that help does not need

    check_kind(call.kind)
    return file


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
