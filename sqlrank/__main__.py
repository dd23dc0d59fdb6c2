"""Entry point of the ``sqlrank`` command."""

from __future__ import annotations

from sqlrank.cli.app import app


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
