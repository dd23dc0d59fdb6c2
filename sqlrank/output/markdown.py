"""Format tables in Markdown, with data escaped: no HTML, image, link, mention or emphasis."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_MARKUP = (
    r"[`<*]|(?<![^\W_])_|_(?![^\W_])|~.*~|\$.*\$|\\[^\w\s]|&#|&\w+;"  # code, HTML, emphasis, mathematics, escapes, entities
    r"|\][(\[:]|://|\bwww\.|\b(?:mailto|xmpp):|\w@[\w.-]*\.\w"  # images and links, also those that GitHub finds in text
    r"|(?<!\w)(?:@[a-z]|#\d|:\w+:)|^\s|\s$"  # mentions, issues, emoji, and blanks that are stripped
)


def format_markdown(header: Sequence[str], aligned: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """Return a table of escaped texts; ``aligned`` are ``left`` or ``right``."""
    lines = [header, ["---:" if side == "right" else ":---" for side in aligned], *cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def escape_markdown(text: str) -> str:
    r"""Escape a text for a table cell: as inline code if it contains markup.

    >>> print(escape_markdown("a|b"), escape_markdown("<b>"), escape_markdown("nDCG@10"))
    a\|b `<b>` nDCG@10
    """
    cell = text.replace("|", r"\|")
    if not re.search(_MARKUP, text, re.IGNORECASE):
        return cell.replace("\n", "<br>")
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    blank = " " if text[0] in "` \n" or text[-1] in "` \n" else ""
    code = cell.replace("\n", r"\n")
    return f"{fence}{blank}{code}{blank}{fence}"
