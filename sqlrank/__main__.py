"""Entry point of the ``sqlrank`` command."""

from __future__ import annotations

import sys

from sqlrank._version import __version__


def main() -> None:
    """Run the command line; its version is said before anything else is imported."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"sqlrank {__version__}\n")
        return
    from sqlrank.cli.app import app  # noqa: PLC0415  see above

    app()


if __name__ == "__main__":
    main()
