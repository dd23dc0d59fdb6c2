"""Run the ``sqlrank`` command: handle signals, set the exit status, and exit without deallocating
all objects.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from contextlib import suppress

from sqlrank._version import __version__

GC_THRESHOLD_OBJECTS = 100_000
"""Number of allocations before garbage collection.

Imports and parsing create no garbage, and the default of 700 costs a tenth of a command's time.
"""


def main() -> None:
    """Run the command line.

    ``--version`` is answered before any other import. Streams that are closed at the start are
    replaced by the null device.
    """
    # Imports take a while, in which an interrupt would print a traceback.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            # Kept open
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115, PTH123
    status, write_error = 0, None
    try:
        _run_command_line()
    except SystemExit as exit_request:
        if exit_request.code is not None and not isinstance(exit_request.code, int):
            raise
        # A reader that closed the pipe, such as head, is not an error; the command line parser
        # reports one.
        status = (
            0 if isinstance(exit_request.__context__, BrokenPipeError) else exit_request.code or 0
        )
    except OSError as error:
        write_error = error
    except UnicodeEncodeError as error:
        encoding, character = sys.stdout.encoding, error.object[error.start]
        if encoding.lower() == "utf-8":
            raise
        status = 2
        sys.stderr.write(
            f"sqlrank: standard output is in {encoding}, which has no {character!a}. Set"
            " PYTHONIOENCODING=utf-8, or write to a file with -o\n"
        )
    _exit_process(status, write_error)


def _run_command_line() -> None:
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"sqlrank {__version__}\n")
        return
    gc.set_threshold(GC_THRESHOLD_OBJECTS)
    from sqlrank.cancellation import exit_at_signals

    exit_at_signals()
    from sqlrank.cli.app import command_line  # takes time, in which a signal ends it, too

    command_line(next(iter(sys.argv[1:]), ""))()


def _exit_process(status: int, write_error: OSError | None) -> None:
    """Exit without deallocating all objects, which takes as long as a small evaluation.

    Abandoned threads would also delay a regular exit. A failed write, such as to a full disk, is
    reported once; a reader that closed the pipe, such as head, is not an error.
    """
    # As at interpreter shutdown, without deallocating objects
    atexit._run_exitfuncs()  # noqa: SLF001
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            write_error = error
    if write_error is not None and not isinstance(write_error, BrokenPipeError) and status == 0:
        status = 2
        from sqlrank.errors import describe_os_error  # for a failed write alone

        with suppress(OSError):
            os.write(2, f"sqlrank: {describe_os_error(write_error)}\n".encode())
    os._exit(status)


if __name__ == "__main__":
    main()
