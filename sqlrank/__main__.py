"""Entry point of the ``sqlrank`` command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, or say how to install what it needs."""
    try:
        from sqlrank.cli import app  # noqa: PLC0415  its dependencies are optional
    except ModuleNotFoundError as error:
        if error.name not in {"typer", "rich"}:
            raise
        sys.exit(f"the command line needs {error.name}; install it with: pip install 'sqlrank[cli]'")
    app()


if __name__ == "__main__":
    main()
