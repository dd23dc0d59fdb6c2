"""Entry point of the ``sqlrank`` command."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from contextlib import suppress

from sqlrank._version import __version__

FEWEST_TO_COLLECT = 100_000
"""Objects after which garbage is looked for: what is imported and parsed is none, and to look every 700 takes a tenth of a command."""


def _end(number: int, frame: object) -> None:  # noqa: ARG001  what a handler is given
    """End as after Ctrl-C, with nothing left behind, and the status that shells give."""
    raise SystemExit(128 + number)


def main() -> None:
    """Run the command line; its version is said before anything else is imported. What is written to a closed stream goes nowhere."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115, PTH123  kept open
    status, wrong = 0, None
    try:
        _run()
    except SystemExit as end:
        if end.code is not None and not isinstance(end.code, int):
            raise
        status = end.code or 0
    except OSError as error:
        wrong = error
    _leave(status, wrong)


def _run() -> None:
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"sqlrank {__version__}\n")
        return
    gc.set_threshold(FEWEST_TO_COLLECT)
    from sqlrank.cli.commands import command_line  # noqa: PLC0415  see above

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    command_line(next(iter(sys.argv[1:]), ""))()


def _leave(status: int, wrong: OSError | None) -> None:
    """End at once: to take all objects apart takes as long as a small evaluation, and work that was left alone would hold up the end.

    What cannot be written, to a full disk, is an error that is said once; a reader that went away, as head does, is none.
    """
    atexit._run_exitfuncs()  # noqa: SLF001  the end of the interpreter, but for its objects
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            wrong = error
    if wrong is not None and not isinstance(wrong, BrokenPipeError) and status == 0:
        status = 2
        with suppress(OSError):
            os.write(2, f"sqlrank: {wrong}\n".encode())
    os._exit(status)


if __name__ == "__main__":
    main()
