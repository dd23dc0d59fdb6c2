"""One SQL file: its documentation, what its comment declares, and its tree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import sqlglot

from sqlrank import contract
from sqlrank.errors import ContractError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Kind = Literal["metrics", "curves", "relations", "functions"]

ALL = 2_147_483_647
"""What a cut-off is when there is none: more than any list is long."""

MOST = 1.7976931348623157e308
"""What a number is that has no bound."""

_PARAM = re.compile(
    r"\$(?P<name>\w+): (?P<type>integer|numbers|number)"
    r"(?: (?P<bound>from|above) (?P<low>\S+?))?(?: to (?P<high>\S+?))?(?:, default (?P<default>\[[^]]*\]|\S+?))?: (?P<about>.+)"
)
_CHOICE = re.compile(r"(?P<name>\w+)(?P<slot>\(\))?: default (?P<default>\w+): (?P<about>.+)")


@dataclass(frozen=True, slots=True)
class Param:
    """A ``$parameter`` as its comment line declares it."""

    name: str
    type: str
    low: float
    high: float
    excludes_low: bool
    default: float | tuple[float, ...] | None
    about: str

    @property
    def default_text(self) -> str:
        """The default as a user would write it."""
        if isinstance(self.default, tuple):
            return "[" + ",".join(f"{item:g}" for item in self.default) + "]"
        return "all" if self.default in {None, ALL, MOST} else f"{self.default:g}"

    def __str__(self) -> str:
        """Return the type and range in words."""
        lower = "" if self.low in {-ALL, -MOST} else f" {'above' if self.excludes_low else 'from'} {self.low:g}"
        upper = "" if self.high in {ALL, MOST} else f" to {self.high:.10g}"
        return self.type + lower + upper


@dataclass(frozen=True, slots=True)
class Choice:
    """A function slot, or a policy of which a metric may choose another value, as its comment line declares it."""

    name: str
    is_slot: bool
    default: str
    about: str


@dataclass(frozen=True, slots=True)
class SqlFile:
    """One ``.sql`` file: its documentation, what it declares and its tree."""

    kind: Kind
    name: str
    path: Path
    doc: str
    params: Mapping[str, Param]
    choices: Mapping[str, Choice]
    tree: Any
    text: str
    arguments: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The first line of the documentation."""
        return self.doc.splitlines()[0]

    @property
    def sentence(self) -> str:
        """The first sentence of the documentation, without the name, which may take several lines."""
        whole = " ".join(self.doc.splitlines()).partition(": ")[2]
        return re.split(r"(?<=\.)\s+(?=[A-Z$]|\w+(?:\(\))?: )", whole, maxsplit=1)[0]

    @property
    def title_name(self) -> str:
        """What stands before the colon in the first line; ``AUC@k`` is what AUC is with a cut-off."""
        return self.title.partition(":")[0]

    @property
    def display_name(self) -> str:
        """The name users write, without a cut-off."""
        return self.title_name.removesuffix("@k")

    @property
    def is_total(self) -> bool:
        """Whether the metric is defined for every query."""
        return "Undefined: never" in self.doc

    @property
    def source(self) -> str:
        """Where the definition comes from."""
        match = re.search(r"^Source: (.+)$", self.doc, re.MULTILINE)
        return match[1] if match else ""

    @property
    def requires(self) -> list[str]:
        """What the metric takes for granted of the rows it reads, such as ``binary labels``."""
        match = re.search(r"^Requires: (.+)\.$", self.doc, re.MULTILINE)
        return match[1].split(", ") if match else []

    @property
    def is_costly(self) -> bool:
        """Whether a relation is to be computed once for all that read it."""
        return re.search(r"^Costly: ", self.doc, re.MULTILINE) is not None

    @property
    def at(self) -> Param | None:
        """The parameter that is written after ``@``: the first one, if it is ``$k`` or has no default."""
        first = next(iter(self.params.values()), None)
        return first if first and (first.name == "k" or first.default is None) else None


def load(kind: Kind, name: str, path: Path) -> SqlFile:  # noqa: C901  one step after another
    """Read a file; raise ``ContractError`` for what breaks the contract."""
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ContractError(f"{path}:1: not UTF-8 text: {error.reason}") from None
    comment = [line[2:].removeprefix(" ") for line in _leading_comment(text)]
    if not comment:
        raise ContractError(f"{path}:1: a file begins with a comment that says what it is")
    params, choices = {}, {}
    for number, line in enumerate(comment, start=1):
        if match := _PARAM.fullmatch(line):
            params[match["name"]] = _param(match)
        elif line.startswith("$"):
            raise ContractError(f"{path}:{number}: cannot read the parameter; write '$k: integer from 1, default 10: what it is'")
        elif match := _CHOICE.fullmatch(line):
            choices[match["name"]] = Choice(match["name"], bool(match["slot"]), match["default"], match["about"])
    try:
        tree = sqlglot.parse_one(text, read="duckdb")
    except sqlglot.ParseError as error:
        if not error.errors:
            what = {"metrics": "a metric is one SELECT", "relations": "a relation is one SELECT or UNION ALL"}.get(
                kind, "a function file is one CREATE MACRO"
            )
            raise ContractError(f"{path}:1: {what}") from None
        detail = error.errors[0]
        raise ContractError(f"{path}:{detail['line']}: not SQL: {detail['description']}") from None
    contract.check(kind, path, text, tree, set(params))
    contract.check_requirements(path, text)
    for node in tree.walk():
        node.comments = None
    arguments: tuple[str, ...] = ()
    if kind == "functions":
        arguments = tuple(argument.name for argument in tree.this.expressions)
        tree = tree.expression
    return SqlFile(kind, name, path, "\n".join(comment), params, choices, tree, text, arguments)


def _leading_comment(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if not line.startswith("--"):
            return
        yield line


def _param(match: re.Match[str]) -> Param:
    default = match["default"]
    value: float | tuple[float, ...] | None = None
    unbounded = ALL if match["type"] == "integer" else MOST
    if default == "all":
        value = unbounded
    elif default and default.startswith("["):
        value = tuple(float(item) for item in default.strip("[]").split(","))
    elif default:
        value = int(default) if match["type"] == "integer" else float(default)
    return Param(
        name=match["name"],
        type=match["type"],
        low=float(match["low"] or -unbounded),
        high=float(match["high"] or unbounded),
        excludes_low=match["bound"] == "above",
        default=value,
        about=match["about"],
    )
