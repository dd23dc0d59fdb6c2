"""Measure the prose of pages and find breaches of the style of prose.toml; ``python -m
website.prose [PAGE ...]`` prints both.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        pictures: the number of its images.
    """

    headings: list[str]
    sentences: list[str]
    cells: list[str]
    pictures: int

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

    def per_thousand(self, pattern: re.Pattern[str]) -> float:
        """Return the number of matches per 1,000 words."""
        return (
            1000
            * sum(len(pattern.findall(sentence)) for sentence in self.sentences)
            / max(sum(self.lengths), 1)
        )

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
    pictures = sum(bool(link["picture"]) for link in _LINK.finditer(text))
    text = _LINK.sub(lambda link: "" if link["picture"] else link["text"], text)
    blocks, cells = _split_blocks(_HEADING.sub("\n", text))
    sentences = [
        " ".join(part.split()).strip("*_ ") for block in blocks for part in _split_sentences(block)
    ]
    return Prose(
        _HEADING.findall(text),
        [sentence for sentence in sentences if _WORD.search(sentence)],
        cells,
        pictures,
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
    address = page.per_thousand(_ADDRESS)
    if path not in rules["reference"] and address < MIN_ADDRESS:
        breaches.append(f"{address:.1f} times 'you' per 1,000 words, at least {MIN_ADDRESS}")
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
    from typer.main import get_command  # noqa: PLC0415  slow to import, and not needed for pages

    from sqlrank.cli.app import command_line  # noqa: PLC0415

    def iterate_texts(command: Any) -> Iterator[str]:
        yield command.help or ""
        yield from (
            parameter.help or "" for parameter in command.params if hasattr(parameter, "help")
        )
        yield from chain.from_iterable(
            iterate_texts(each) for each in getattr(command, "commands", {}).values()
        )

    return [text for text in iterate_texts(get_command(command_line())) if text]


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


def describe_page(path: str, markdown: str) -> str:
    """Return the measures of a page in a row of the table."""
    page, rules = parse_prose(markdown), load_style()
    count, lengths = max(len(page.sentences), 1), sorted(page.lengths) or [0]
    cells = [
        f"{page.mean_words:.1f} / {lengths[int(0.9 * (len(lengths) - 1))]}",
        f"{page.long_share:.0%}",
        f"{page.per_thousand(_ADDRESS):.1f}",
        f"{len(page.first_words(rules['imperative'])) / count:.1%}",
        f"{len(page.first_words(rules['opening'])) / count:.1%}",
        f"{page.per_thousand(re.compile(';')):.1f}",
        str(page.pictures),
        str(len(find_breaches(path, markdown))),
    ]
    return f"| {path} | {' | '.join(cells)} |"


def main(chosen: list[str]) -> None:
    """Print the table of pages, and the breaches of those that are named."""
    pages = find_pages()
    titles = [
        "page",
        "words a sentence, mean / p90",
        "above 30",
        "you per 1,000",
        "imperative",
        "What, Where",
        "; per 1,000",
        "pictures",
        "breaches",
    ]
    rows = [
        f"| {' | '.join(titles)} |",
        "|---" * 2 + "|---:" * (len(titles) - 2) + "|",
        *(describe_page(path, pages[path]) for path in chosen or pages),
    ]
    breaches = [line for path in chosen for line in ("", path, *find_breaches(path, pages[path]))]
    sys.stdout.writelines(f"{line}\n" for line in [*rows, *breaches])


if __name__ == "__main__":
    main(sys.argv[1:])
