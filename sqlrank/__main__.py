"""Entry point of the ``sqlrank`` command."""

from __future__ import annotations

import os
import signal
import sys
import threading

from sqlrank._version import __version__
from sqlrank.deadline import WORK


def _end(number: int, frame: object) -> None:  # noqa: ARG001  what a handler is given
    """End as after Ctrl-C, with nothing left behind, and the status that shells give."""
    raise SystemExit(128 + number)


def main() -> None:
    """Run the command line; its version is said before anything else is imported. What is written to a closed stream goes nowhere."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115, PTH123  kept open
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"sqlrank {__version__}\n")
        return
    from sqlrank.cli.app import app  # noqa: PLC0415  see above

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    try:
        app()
    except SystemExit as end:
        # Work that was left alone may go on for a while, and would hold up the end.
        if any(thread.name == WORK for thread in threading.enumerate()):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(end.code if isinstance(end.code, int) else 1)
        raise


if __name__ == "__main__":
    main()
