"""Generate mutants of SQL files: at each operator, constant, join, order and aggregate, its
opposite.
"""

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from sqlglot.dialects.duckdb import DuckDB
from sqlglot.tokens import Token, TokenType

from tests.mutate.mutant import ROOT, Mutant

FOLDERS = (
    "metrics", "relations", "functions", "analyses",
)  # fmt: skip

OPPOSITES: dict[TokenType, str] = {
    TokenType.LT: "<=",
    TokenType.LTE: "<",
    TokenType.GT: ">=",
    TokenType.GTE: ">",
    TokenType.EQ: "<>",
    TokenType.NEQ: "=",
    TokenType.PLUS: "-",
    TokenType.DASH: "+",
    TokenType.STAR: "/",
    TokenType.SLASH: "*",
    TokenType.AND: "OR",
    TokenType.OR: "AND",
    TokenType.INNER: "LEFT",
    TokenType.LEFT: "INNER",
    TokenType.DESC: "ASC",
    TokenType.ASC: "DESC",
}
AGGREGATES = {"SUM": "MAX", "MIN": "MAX", "MAX": "MIN", "AVG": "MAX"}
NAMES = {**AGGREGATES, "RANK": "DENSE_RANK", "NULLIF": "COALESCE"}
"""Functions, which are names to the tokenizer."""

_OPERAND_ENDS = {TokenType.R_PAREN, TokenType.VAR, TokenType.NUMBER, TokenType.R_BRACKET}


def list_sites(path: Path) -> Iterator[Mutant]:
    """Yield the mutants of a file, without tests."""
    text = path.read_text("utf-8")
    tokens = DuckDB().tokenize(text)
    has_one_row_per_key = _has_one_row_per_key(text)
    for place, token in enumerate(tokens):
        after = _replace_token(tokens, place)
        if token.text in AGGREGATES and has_one_row_per_key:
            continue
        if after is not None and text[token.start : token.end + 1] == token.text:
            yield Mutant(str(path.relative_to(ROOT)), token.text, after, (), token.start)


def _has_one_row_per_key(text: str) -> bool:
    """Return True if each group is a single row, whose least value is also its greatest."""
    source = re.search(r"^FROM (\w+)\nGROUP BY (\w+)\s*$", text, re.MULTILINE)
    if source is None:
        return False
    relations = ROOT / "sql" / "relations"
    files = [*relations.rglob(f"{source[1]}.sql"), *relations.rglob(f"{source[1]}/*.sql")]
    return bool(files) and all(
        f"-- Grain: {source[2]}\n" in file.read_text("utf-8") for file in files
    )


def _replace_token(tokens: Sequence[Token], place: int) -> str | None:
    token, before = tokens[place], tokens[place - 1]
    following = tokens[place + 1] if place + 1 < len(tokens) else token
    if token.token_type in {TokenType.STAR, TokenType.DASH, TokenType.PLUS}:
        is_binary = before.token_type in _OPERAND_ENDS or before.text == "END"
        return OPPOSITES[token.token_type] if is_binary else None
    if token.token_type == TokenType.NUMBER and token.text.isdigit():
        if token.text == "0" and before.text == "," and following.text == ")":
            return None  # of NULLIF and COALESCE, which are changed as a whole
        return {"0": "1", "1": "2"}.get(token.text, str(int(token.text) - 1))
    if following.token_type == TokenType.L_PAREN and token.text in NAMES:
        return NAMES[token.text]
    if token.token_type in _COMPARISONS and _chooses_an_extreme(tokens, place):
        return None
    return OPPOSITES.get(token.token_type)


_COMPARISONS = {TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE}


def _chooses_an_extreme(tokens: Sequence[Token], place: int) -> bool:
    """Return True for CASE WHEN a < b THEN a ELSE b END, which is the same with <=."""
    texts = [token.text for token in tokens]
    try:
        start = place - 1 - texts[place - 1 :: -1].index("WHEN")
        then, otherwise = texts.index("THEN", place), texts.index("ELSE", place)
        end = texts.index("END", otherwise)
    except ValueError:
        return False
    values = [texts[start + 1 : place], texts[place + 1 : then]]
    return sorted([texts[then + 1 : otherwise], texts[otherwise + 1 : end]]) == sorted(values)


def draw_mutants(count: int, seed: int) -> list[Mutant]:
    """Draw mutants of all files without tests: each file with the same probability, and then one of
    its mutants.
    """
    generator = random.Random(seed)  # noqa: S311  no secret
    paths = sorted(path for folder in FOLDERS for path in (ROOT / "sql" / folder).rglob("*.sql"))
    drawn: dict[tuple[str, int | None], Mutant] = {}
    while len(drawn) < count:
        sites = list(list_sites(generator.choice(paths)))
        if sites:
            mutant = generator.choice(sites)
            drawn[mutant.file, mutant.offset] = mutant
    return list(drawn.values())
