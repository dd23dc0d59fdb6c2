"""Format tables in LaTeX, with booktabs rules, escaped and bold texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # at the start of a row it would be an optional argument of \\
    "\n": " ",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def format_latex(header: Sequence[str], aligned: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """Return a tabular of escaped texts; ``aligned`` are ``left`` or ``right``."""
    lines = [
        f"\\begin{{tabular}}{{{''.join(side[0] for side in aligned)}}}",
        r"\toprule",
        rf"{' & '.join(header)} \\",
        r"\midrule",
        *(rf"{' & '.join(line)} \\" for line in cells),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "".join(f"{line}\n" for line in lines)


def escape_latex(text: str) -> str:
    r"""Escape a text for LaTeX.

    >>> print(escape_latex("num_q 50%"))
    num\_q 50\%
    """
    return "".join(_ESCAPES.get(character, character) for character in text)


def format_bold(text: str) -> str:
    """Return a text in bold LaTeX."""
    return rf"\textbf{{{text}}}"
