"""The formula of the literature in the comment of a metric's file as MathML:
``R@k = hits in the first k / relevant documents``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_CHARS = 125
"""Maximum length of a formula: longer ones do not fit a page."""

SIGNS = {"sum": "\u2211", "product": "\u220f", "mean": "mean", "min": "min", "max": "max"}
GREEK = {"alpha": "\u03b1", "beta": "\u03b2", "lambda": "\u03bb", "phi": "\u03c6"}
OPERATORS = {"-": "\u2212", "*": "\u22c5", "<=": "\u2264", ">=": "\u2265"}
NO_BREAK = "\u00a0"
BRACKETED = ("<mrow><mo>(</mo>", "<mo>)</mo></mrow>")
BRACKETS = {"(": ")", "[": "]", "|": "|"}

_TOKEN = re.compile(r"\s*(<=|>=|\d+(?:\.\d+)?|[A-Za-z][\w@]*|[-+*/^()\[\]|,<>=])")
_DEFINITION = re.compile(r",\s+(?:where\s+)?(?=\w+ = )")
_SUBSCRIPT = re.compile(r"([A-Za-z]+)_([A-Za-z0-9])")


class Token(NamedTuple):
    """A number, word or sign, with its place in the formula."""

    text: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        """Return True for a word or a variable."""
        return self.text[0].isalpha()

    @property
    def is_variable(self) -> bool:
        """Return True for a letter, with or without an index."""
        return (
            len(self.text) == 1 or self.text in GREEK or bool(_SUBSCRIPT.fullmatch(self.text))
        ) and self.is_word


def typeset_formulas(lines: Sequence[str]) -> list[str]:
    """Return a formula per line as elements ``math``, with lines joined that go on; raise
    ``ValueError`` if one is long or has a sign that is not known here.
    """
    texts: list[str] = []
    for line in lines:
        if texts and " = " not in line:
            texts[-1] += f" {line.strip()}"
        else:
            texts.append(line.strip())
    # A formula that defines its terms after a comma has a line for each.
    texts = [part.rstrip(",") for text in texts for part in _DEFINITION.split(text)]
    if longest := [text for text in texts if len(text) > MAX_CHARS]:
        raise ValueError(f"a formula is longer than {MAX_CHARS} characters: {longest[0]}")
    return [_typeset_equation(text) for text in texts]


def _typeset_equation(text: str) -> str:
    name, equals, value = text.partition(" = ")
    tokens = []
    place = 0
    while place < len(value):
        if (match := _TOKEN.match(value, place)) is None:
            raise ValueError(value[place:])
        tokens.append(Token(match[1], match.start(1), match.end(1)))
        place = match.end()
    if not equals or not tokens or " " in name:
        raise ValueError(text)
    parser = FormulaParser(tokens)
    parts = [_write_name(name), _write_sign("="), parser.read_sum()]
    while parser.tokens and parser.tokens[0].text == "=":
        parts += [_set_operator(parser.tokens.pop(0)), parser.read_sum()]
    if parser.tokens:  # such as a condition after a comma
        if parser.tokens[0].text != ",":
            raise ValueError(text)
        parts += [_write_text(value[parser.tokens[0].start :].replace("<=", "\u2264"))]
    return f'<math display="block">{_join_row(*parts)}</math>'


@dataclass
class FormulaParser:
    """A reader of the tokens of a formula, which it takes from the front."""

    tokens: list[Token]
    open_bars: int = 0

    def _starts_with(self, *texts: str) -> bool:
        return bool(self.tokens) and self.tokens[0].text in texts

    def _take_token(self) -> Token:
        if not self.tokens:
            raise ValueError("the formula ends early")
        return self.tokens.pop(0)

    def read_sum(self) -> str:
        """Read terms with their signs."""
        parts = []
        while True:
            if self._starts_with("+", "-"):
                parts.append(_set_operator(self._take_token()))
            parts.append(self._read_term())
            if not self._starts_with("+", "-"):
                return _join_row(*parts)

    def _read_term(self, *, has_quotients: bool = True) -> str:
        """Read a product or quotient: a divisor is one factor, and divides all before it."""
        factors: list[str] = []
        while self.tokens and not self._starts_with("+", "-", ")", "]", ",", "<=", "=", "<", ">"):
            if self._starts_with("|") and factors and self.open_bars:
                break
            if self._starts_with("/"):
                if not has_quotients:
                    break
                self._take_token()
                sign = [_set_operator(self._take_token())] if self._starts_with("-") else []
                divisor = _join_row(*sign, self._read_factor(is_bare=not sign))
                factors = [f"<mfrac>{_drop_brackets(factors)}{divisor}</mfrac>"]
            elif self._starts_with("*"):
                factors.append(_set_operator(self._take_token()))
            else:
                if factors and not factors[-1].startswith("<mo>"):
                    factors.append(_write_text(" "))
                factors.append(self._read_factor())
        if not factors:
            raise ValueError("a term is missing")
        return _join_row(*factors)

    def _read_factor(self, *, is_bare: bool = False) -> str:
        """Read a factor with its exponent, without its brackets if it is bare."""
        token = self._take_token()
        if token.text in SIGNS and self._starts_with("over", "of"):
            return self._read_total(token)
        if token.text == "sum":
            return _join_row(_write_sign(SIGNS["sum"]), self._read_term(has_quotients=False))
        if token.text in BRACKETS:
            factor = self._read_bracketed(token, is_bare=is_bare)
        elif token.is_word:
            factor = self._read_words(token)
        elif token.text[0].isdigit():
            factor = _write_number(token.text)
        else:
            raise ValueError(token.text)
        if self._starts_with("^"):
            self._take_token()
            factor = f"<msup>{factor}{self._read_factor(is_bare=True)}</msup>"
        return factor

    def _read_bracketed(self, left: Token, *, is_bare: bool) -> str:
        self.open_bars += left.text == "|"
        inner = self.read_sum()
        if self._starts_with("<=", "<", ">=", ">", "="):
            inner = _join_row(inner, _set_operator(self._take_token()), self.read_sum())
        self.open_bars -= left.text == "|"
        right = self._take_token()
        if right.text != BRACKETS[left.text]:
            raise ValueError(left.text)
        if is_bare and left.text == "(" and not self._starts_with("^"):
            return inner
        return _join_row(_write_sign(left.text), inner, _write_sign(right.text))

    def _read_words(self, first: Token) -> str:
        """Read a call, a variable, or words up to the next sign."""
        if self._starts_with("(") and self.tokens[0].start == first.end:
            return self._read_call(first)
        if first.is_variable:
            return _set_word(first)
        words = [first.text]
        while (
            self.tokens
            and self.tokens[0].is_word
            and (self.tokens[0].text not in SIGNS or words[-1] == "same")
        ):
            words.append(self._take_token().text)
        return _write_name(" ".join(words))

    def _read_call(self, name: Token) -> str:
        self._take_token()
        arguments = [self.read_sum()]
        while self._starts_with(","):
            self._take_token()
            arguments += [_write_sign(","), self.read_sum()]
        if self._take_token().text != ")":
            raise ValueError(name.text)
        if name.text == "sqrt":
            return f"<msqrt>{''.join(arguments)}</msqrt>"
        call = _write_name(name.text)
        if name.text == "log2":
            call = "<msub><mi>log</mi><mn>2</mn></msub>"
        return _join_row(call, _write_sign("("), *arguments, _write_sign(")"))

    def _read_total(self, sign: Token) -> str:
        """Read ``sum over i <= k of x_i`` or ``sum of x``."""
        total = _write_sign(SIGNS[sign.text])
        if self._take_token().text == "of":
            return _join_row(total, self._read_term(has_quotients=False))
        condition = self.tokens[: self._find_body()]
        del self.tokens[: len(condition) + 1]
        parts = [_set_word(token) if token.is_word else _set_operator(token) for token in condition]
        spaced = [element for part in parts for element in (_write_text(" "), part)][1:]
        return _join_row(f"<munder>{total}{_join_row(*spaced)}</munder>", self._read_term())

    def _find_body(self) -> int:
        """Return the place of the ``of`` before what is totalled: that before something set, or the
        first one.
        """
        candidates = [index for index, token in enumerate(self.tokens) if token.text == "of"]
        for candidate in candidates[:2]:
            after, next_token = (*self.tokens[candidate + 1 : candidate + 3], None, None)[:2]
            if after is not None and (
                not after.is_word
                or after.is_variable
                or (next_token is not None and next_token.start == after.end)
            ):
                return candidate
        if not candidates:
            raise ValueError("over")
        return candidates[0]


def _drop_brackets(factors: Sequence[str]) -> str:
    """Return factors as a numerator, a single sum without its brackets."""
    if len(factors) == 1 and factors[0].startswith(BRACKETED[0]):
        return factors[0].removeprefix(BRACKETED[0]).removesuffix(BRACKETED[1])
    return _join_row(*factors)


def _set_word(token: Token) -> str:
    if match := _SUBSCRIPT.fullmatch(token.text):
        index = _write_number(match[2]) if match[2].isdigit() else _write_name(match[2])
        return f"<msub>{_write_name(match[1])}{index}</msub>"
    return _write_name(GREEK.get(token.text, token.text))


def _set_operator(token: Token) -> str:
    if token.text[0].isdigit():
        return _write_number(token.text)
    return _write_sign(OPERATORS.get(token.text, token.text))


def _join_row(*parts: str) -> str:
    return f"<mrow>{''.join(parts)}</mrow>"


def _write_name(text: str) -> str:
    """Return words as an identifier, which is upright if it is longer than a letter: signs beside
    the text of an element ``mtext`` would have no room.
    """
    return f"<mi>{re.sub('[ _]', NO_BREAK, escape(text))}</mi>"


def _write_number(text: str) -> str:
    return f"<mn>{text}</mn>"


def _write_sign(text: str) -> str:
    return f"<mo>{escape(text)}</mo>"


def _write_text(text: str) -> str:
    return f"<mtext>{escape(text).replace(' ', NO_BREAK)}</mtext>"
