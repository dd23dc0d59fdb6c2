"""Header comment of a statement: its contents, inputs, settings, plan, and the command that prints it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlrank._version import __version__


@dataclass(frozen=True)
class StatementHeader:
    """The header comment of a statement, of which the lines that apply are written.

    Attributes:
        title: Its contents, such as ``nDCG, AP``.
        plan: Its plan, with the alternatives.
        notes: Further lines.
    """

    title: str
    plan: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the header as comment lines."""
        lines = [f"sqlrank {__version__}: {self.title}", *self.plan, *self.notes]
        return "".join(f"-- {' '.join(line.splitlines())}\n" for line in lines)
