"""Breaches of the style of prose.toml by pages; ``python -m website.prose [PAGE ...]`` prints
them.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from website.command_line import load_commands

ROOT = Path(__file__).parents[1]
MAX_MEAN_WORDS = 16
MAX_WORDS = 30
MAX_LONG_SHARE = 0.03
MIN_ADDRESS = 8
"""Minimum number of "you" per 1,000 words of a guide."""

_CODE_INDENT = 4
_FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2 *$", re.DOTALL | re.MULTILINE)
_MARKUP = re.compile(r"<!--.*?-->|^---\n.*?^---$|</?\w[^>\n]*>", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\](?:\([^)\s]*\)|\[[^\]]*\])")
_HEADING = re.compile(r"^#+ +(.+?)(?: *\{[^}]*\})?$", re.MULTILINE)
_ADMONITION = re.compile(r"^( *)(?:!!!|\?\?\?\+?|===) .*$")
_ITEM = re.compile(r"^ *(?:[-*]|\d+\.) +")
_END = re.compile(r"(?<=[.!?])[\"')*_]* +(?=[\"'(*_]*(?:[A-Z0-9`]|sqlrank\b))")
_NOT_AN_END = re.compile(r"\b(?:e\.g|i\.e|vs|cf|et al|No)\.$")
_WORD = re.compile(r"[\w'’.-]*\w[\w'’.-]*")
_ADDRESS = re.compile(r"\b(?:you|your|yours|yourself|we|our|us|let's)\b", re.IGNORECASE)


@cache
def load_style() -> dict[str, Any]:
    """Return the lists of prose.toml."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


@dataclass(frozen=True)
class Prose:
    """The text of a page.

    Attributes:
        headings: its headings, without markup.
        sentences: its sentences outside tables and code, each name in code as one word.
        cells: the text of its tables.
    """

    headings: list[str]
    sentences: list[str]
    cells: list[str]

    @property
    def lengths(self) -> list[int]:
        """Return the number of words of each sentence."""
        return [len(_WORD.findall(sentence)) for sentence in self.sentences]

    @property
    def long_share(self) -> float:
        """Return the share of sentences of more than ``MAX_WORDS`` words."""
        return sum(length > MAX_WORDS for length in self.lengths) / max(len(self.sentences), 1)

    @property
    def mean_words(self) -> float:
        """Return the mean number of words of a sentence."""
        return sum(self.lengths) / max(len(self.sentences), 1)

    @property
    def address(self) -> float:
        """Return how often the reader is addressed, per 1,000 words."""
        count = sum(len(_ADDRESS.findall(sentence)) for sentence in self.sentences)
        return 1000 * count / max(sum(self.lengths), 1)

    def first_words(self, words: list[str]) -> list[str]:
        """Return the sentences, but for questions, that begin with one of the words."""
        pattern = re.compile(rf"[\"'(*_]*(?:{'|'.join(words)})\b")
        return [
            sentence
            for sentence in self.sentences
            if pattern.match(sentence) and not sentence.rstrip("\"')*_ ").endswith("?")
        ]


def parse_prose(markdown: str) -> Prose:
    r"""Return the prose of a page.

    >>> page = parse_prose(
    ...     "# Ties\n\nSet `ties=worst` to see. It is [fast](x.md); try.\n\n- One\n  item\n\n    code here\n\n| a | b |\n|---|---|\n| c | d |"
    ... )
    >>> page.headings, page.sentences, page.cells
    (['Ties'], ['Set CODE to see.', 'It is fast; try.', 'One item'], ['a b', 'c d'])
    """  # noqa: E501
    text = _MARKUP.sub("", _FENCE.sub("", markdown))
    text = re.sub(r"``.+?``|`[^`]+`", "CODE", text, flags=re.DOTALL)
    text = _LINK.sub(lambda link: "" if link["picture"] else link["text"], text)
    blocks, cells = _split_blocks(_HEADING.sub("\n", text))
    sentences = [
        " ".join(part.split()).strip("*_ ") for block in blocks for part in _split_sentences(block)
    ]
    return Prose(
        _HEADING.findall(text),
        [sentence for sentence in sentences if _WORD.search(sentence)],
        cells,
    )


def _split_blocks(text: str) -> tuple[list[str], list[str]]:
    """Return the paragraphs and items of lists, and the rows of tables; indented code is left
    out.
    """
    blocks, cells, indent, is_apart = [""], [], 0, True
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip())
        if line.strip() and depth < indent:
            indent = 0
        if not line.strip():
            is_apart = True
            blocks.append("")
        elif admonition := _ADMONITION.match(line):
            indent = len(admonition[1]) + 4
            blocks.append("")
        elif line.lstrip().startswith("|"):
            cells.append(" ".join(line.replace("|", " ").split()))
        elif depth - indent >= _CODE_INDENT and is_apart:
            continue
        else:
            blocks += [""] if _ITEM.match(line) else []
            blocks[-1] += f" {_ITEM.sub('', line).strip()}"
            is_apart = False
    return [block for block in blocks if block], [
        row for row in cells if not re.fullmatch(r"[\s:-]*", row)
    ]


def _split_sentences(block: str) -> list[str]:
    parts = [""]
    for part in _END.split(block.strip()):
        joined = f"{parts[-1]} {part}".strip()
        parts = (
            [*parts[:-1], joined]
            if not parts[-1] or _NOT_AN_END.search(parts[-1])
            else [*parts, part]
        )
    return parts


def find_words(texts: list[str]) -> list[str]:
    """Return the words of texts that stand in place of the field's term, with what to write.

    >>> find_words(["The interval holds the truth."])
    ["'holds the truth' in 'The interval holds the truth.': contains the true value, coverage"]
    """
    patterns = [
        (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), better)
        for words, better in load_style()["words"].items()
    ]
    return [
        f"{match[0]!r} in {text!r}: {better}"
        for text in texts
        for pattern, better in patterns
        for match in pattern.finditer(text)
    ]


def find_breaches(path: str, markdown: str) -> list[str]:
    """Return the breaches of the style by a page, each in a line."""
    page, rules = parse_prose(markdown), load_style()
    breaches = [
        f"heading {text!r}: name the thing"
        for text in page.headings
        if text.split()[0].strip("*`") in rules["headless"]
    ]
    breaches += [
        f"begins with {text.split()[0]}: {text!r}" for text in page.first_words(rules["opening"])
    ]
    breaches += [f"semicolon: {text!r}" for text in page.sentences if ";" in text]
    breaches += find_words([*page.headings, *page.sentences, *page.cells])
    if page.mean_words > MAX_MEAN_WORDS:
        breaches.append(f"{page.mean_words:.1f} words a sentence, at most {MAX_MEAN_WORDS}")
    if page.long_share > MAX_LONG_SHARE:
        longest = sorted(zip(page.lengths, page.sentences, strict=True), reverse=True)
        breaches.append(
            f"{page.long_share:.0%} of sentences above {MAX_WORDS} words, such as {longest[0][1]!r}"
        )
    if path not in rules["reference"] and page.address < MIN_ADDRESS:
        breaches.append(f"{page.address:.1f} times 'you' per 1,000 words, at least {MIN_ADDRESS}")
    return breaches


def find_pages() -> dict[str, str]:
    """Return the pages that users read, by path."""
    docs = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
    paths = [
        "README.md",
        *docs,
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "sql/README.md",
        "examples/gate/README.md",
        "examples/rollup/README.md",
    ]
    return {path: (ROOT / path).read_text("utf-8") for path in paths}


def help_texts() -> list[str]:
    """Return the help of all commands and their options."""
    items = [item for command in load_commands().values() for item in (command, *command.params)]
    return [item.help for item in items if getattr(item, "help", None)]


def report_texts() -> list[str]:
    """Return the texts of reports and captions of charts: strings of their modules, but not of
    their errors, and the template's.
    """
    template = (ROOT / "sqlrank" / "reports" / "report.html.j2").read_text("utf-8")
    texts = [re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|<[^>]*>", "\n", template, flags=re.DOTALL)]
    for path in [
        *(ROOT / "sqlrank" / "reports").glob("*.py"),
        *(ROOT / "sqlrank" / "charts").glob("*_charts.py"),
    ]:
        texts += list_strings(path, with_errors=False)
    return [text for part in texts for line in part.splitlines() if " " in (text := line.strip())]


def message_texts() -> list[str]:
    """Return the texts of messages and notes: all strings of the package that are no docstrings, of
    several words.
    """
    paths = sorted((ROOT / "sqlrank").rglob("*.py"))
    return [text for path in paths for text in list_strings(path) if " " in text]


def list_strings(path: Path, *, with_errors: bool = True) -> list[str]:
    """Return the strings of a module that are no docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    if not with_errors:
        errors = (node for node in ast.walk(tree) if isinstance(node, ast.Raise))
        skipped |= {id(each) for node in errors for each in ast.walk(node)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in skipped
    ]


def main(chosen: list[str]) -> None:
    """Print the breaches of pages, of all without names."""
    pages = find_pages()
    sys.stdout.writelines(
        f"{path}: {breach}\n"
        for path in chosen or pages
        for breach in find_breaches(path, pages[path])
    )


if __name__ == "__main__":
    main(sys.argv[1:])
