"""Entry point of the ``sqlrank`` command."""

from __future__ import annotations

import os
import sys

from sqlrank.cli.app import app


def main() -> None:
    """Run the command line; what is written to a stream that was closed goes nowhere."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115, PTH123  kept open
    app()


if __name__ == "__main__":
    main()
