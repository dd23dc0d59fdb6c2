"""One SQL file: its documentation, what its comment declares, and its tree, which is read when it is asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal

from sqlrank.errors import ContractError

if TYPE_CHECKING:
    from pathlib import Path

Kind = Literal["metrics", "curves", "relations", "functions"]

ALL = 2_147_483_647
"""What a cut-off is when there is none: more than any list is long."""

MOST = 1.7976931348623157e308
"""What a number is that has no bound."""

GRAINS = {"list_id": "list", "group_id": "group"}
"""What a metric has one value of, by the key it is grouped by."""

FACTS = (
    "Across lists", "Before", "Better", "Bounds", "Costly", "Default", "Engine", "Found by", "Influence", "Interval", "Interval of", "Linear", "Never zero", "No influence", "No interval", "Orders", "Per score", "Per slice", "Per system", "Probability", "Spread", "Check", "Requires",
    "Rows", "Source", "Standard error", "Undefined", "Unit", "Units", "With k",
)  # fmt: skip
"""What a comment line may declare beside parameters: ``-- Costly: every list is ranked.``"""

_PARAM = re.compile(
    r"\$(?P<name>\w+): (?P<type>integer|numbers|number)"
    r"(?: (?P<bound>from|above) (?P<low>\S+?))?(?: to (?P<high>\S+?))?(?:, default (?P<default>\[[^]]*\]|\S+?))?: (?P<about>.+)"
)
_CHOICE = re.compile(r"(?P<name>\w+)(?P<slot>\(\))?: default (?P<default>\w+): (?P<about>.+)")
_FACT = re.compile(rf"^({'|'.join(FACTS)}): (.+?)\.?$", re.MULTILINE)


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

    @property
    def is_above_zero(self) -> bool:
        """Whether no value in range is 0 or less."""
        return self.low > 0 or (self.low == 0 and self.excludes_low)

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


@dataclass(frozen=True, eq=False)
class SqlFile:
    """One ``.sql`` file: its documentation, what it declares and its tree, each read when it is asked for.

    What cannot be read raises ``ContractError`` with file and line.
    """

    kind: Kind
    name: str
    path: Path

    @cached_property
    def text(self) -> str:
        """The whole file."""
        try:
            return self.path.read_text("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ContractError(f"{self.path}:1: not UTF-8 text: {error.reason}") from None

    @cached_property
    def doc(self) -> str:
        """The leading comment."""
        lines = takewhile(lambda line: line.startswith("--"), self.text.splitlines())
        comment = [line[2:].removeprefix(" ") for line in lines]
        if not comment:
            raise ContractError(f"{self.path}:1: a file begins with a comment that says what it is")
        return "\n".join(comment)

    @cached_property
    def params(self) -> dict[str, Param]:
        """The parameters that the comment declares."""
        found = {}
        for number, line in enumerate(self.doc.splitlines(), start=1):
            if match := _PARAM.fullmatch(line):
                found[match["name"]] = _param(match)
            elif line.startswith("$"):
                raise ContractError(f"{self.path}:{number}: cannot read the parameter; write '$k: integer from 1, default 10: what it is'")
        return found

    @cached_property
    def choices(self) -> dict[str, Choice]:
        """The function slots and policies that the comment declares."""
        lines = (line for line in self.doc.splitlines() if ": default " in line and not line.startswith("$"))
        matches = (match for line in lines if (match := _CHOICE.fullmatch(line)))
        return {match["name"]: Choice(match["name"], bool(match["slot"]), match["default"], match["about"]) for match in matches}

    @cached_property
    def statement(self) -> Any:
        """The tree of the whole file; raises ``ContractError`` for what is not SQL."""
        from sqlrank.library import contract  # noqa: PLC0415  sqlglot is a quarter of a second, which documentation does not need

        return contract.read_tree(self.kind, self.path, self.text)

    @cached_property
    def tree(self) -> Any:
        """The SELECT of the file, or the expression of a function."""
        return self.statement.expression if self.kind == "functions" else self.statement

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """The arguments of a function."""
        return tuple(argument.name for argument in self.statement.this.expressions) if self.kind == "functions" else ()

    @cached_property
    def facts(self) -> dict[str, str]:
        """What the comment declares, by the word before the colon."""
        return dict(_FACT.findall(self.doc))

    @property
    def title(self) -> str:
        """The first line of the documentation."""
        return self.doc.partition("\n")[0]

    @property
    def sentence(self) -> str:
        """The first sentence of the documentation, without the name, which may take several lines."""
        whole = " ".join(self.doc.splitlines()).partition(": ")[2]
        return re.split(r"(?<=\.)\s+(?=[A-Z$]|\w+(?:\(\))?: )", whole, maxsplit=1)[0]

    @property
    def about(self) -> str:
        """The first line without the name."""
        return self.title.partition(": ")[2]

    @property
    def title_name(self) -> str:
        """What stands before the colon in the first line; ``AUC@k`` is what AUC is with a cut-off."""
        return self.title.partition(":")[0]

    @property
    def display_name(self) -> str:
        """The name users write, without a cut-off."""
        return self.title_name.removesuffix("@k")

    @property
    def place(self) -> str:
        """The path below the folder of SQL files, such as ``relations/judged/placed.sql``."""
        parts = self.path.parts
        return "/".join(parts[len(parts) - 1 - parts[::-1].index(self.kind) :] if self.kind in parts else parts[-2:])

    @property
    def is_total(self) -> bool:
        """Whether the metric is defined for every query."""
        return self.facts.get("Undefined", "With k") == "never"

    @property
    def source(self) -> str:
        """Where the definition comes from."""
        match = re.search(r"^Source: (.+)$", self.doc, re.MULTILINE)
        return match[1] if match else ""

    @property
    def requires(self) -> list[str]:
        """What the metric takes for granted of the rows it reads, such as ``binary labels``."""
        return self.facts["Requires"].split(", ") if "Requires" in self.facts else []

    @property
    def grain(self) -> str:
        """What a metric has one value of: a ``list`` or a ``group`` of them; of a curve, what it has rows for."""
        return GRAINS[str(self.tree.named_selects[0])]

    @property
    def reads(self) -> str:
        """The relation or input that a metric reads."""
        return str(self.tree.args["from_"].this.name)

    @property
    def source_of_rows(self) -> str:
        """The first relation or input that a metric or curve names."""
        match = re.search(r"\bFROM (\w+)", self.text)
        return match[1] if match else ""

    @property
    def at(self) -> Param | None:
        """The parameter that is written after ``@``: the first one, if it is ``$k`` or has no default."""
        first = next(iter(self.params.values()), None)
        return first if first and (first.name == "k" or first.default is None) else None


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
