"""The statement that reads a state: its rows are added up, formulas put on the sums, and the orders of bins evaluated, all where it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from textwrap import fill
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.call import Call
from sqlrank.engines.files import is_meant
from sqlrank.engines.looking import looked_at
from sqlrank.engines.named import named_database
from sqlrank.engines.render import render
from sqlrank.errors import MetricError
from sqlrank.inputs.several import find
from sqlrank.library.orders import TIED
from sqlrank.library.selects import read_select, title_of
from sqlrank.library.settings import parse
from sqlrank.prepare import prepare
from sqlrank.question import look_up as question_of
from sqlrank.results.replacing import replacing
from sqlrank.results.store import store
from sqlrank.statement.bind import literal
from sqlrank.statement.expand import Known, expand
from sqlrank.statement.keys import GROUP, Key, named, same
from sqlrank.statement.relations import free
from sqlrank.statement.rows import double, ordered
from sqlrank.statement.statement import Output, Statement, first_select
from sqlrank.states.adding import named_as
from sqlrank.states.asked import Ordered
from sqlrank.states.held import Held
from sqlrank.states.made import DAYS, DEFINITION, ROWS
from sqlrank.states.orders import ORDERS, key_of
from sqlrank.states.reading import look_up, refuse_others
from sqlrank.states.split import OF_ORDERS

if TYPE_CHECKING:
    from sqlrank.library.asked import Asked
    from sqlrank.library.library import Library
    from sqlrank.library.orders import Bound
    from sqlrank.states.asked import Wanted

KEPT, BINS, OPENED, EACH, BOUNDED, SUMMED = "kept_rows", "merged_bins", "opened_bins", "by_order", "bounded", "summed"
"""The steps: the rows that are added up, their bins, these in each order, the metrics of each, these side by side, and the sums."""

ORDER = "order_number"

SOUND = "is_sound"
"""Whether the rows of a group can be added up: they are of one definition, and none was taken back."""

WIDTH = 100

TOLD = "Rows of several definitions, and rows that take others back, cannot be added up: values are NULL where there are any."
PLAIN = "Means of lists are those without weights; aggregate=wmean has the weighted ones of a state that cannot be looked at."


def text_of(
    call: Call, state: Any, connection: Any, dialect: str, places: tuple[str | None, str | None, str | None], replace: str | None
) -> str:
    """Return the text of the statement of the metrics of a call from a state; ``places`` are the table or view to make of its rows, or to add them to.

    Raises:
        MetricError: a metric that no state has, or an option that is for rows.
        InputError: a state that was looked at and does not have what a metric needs, or rows that cannot be added up.
    """
    refuse_others(call)
    if call.confidence is not None:
        raise MetricError("confidence= of a state is not of one statement; sqlrank.evaluate (sqlrank evaluate) with state= has it")
    library, looked_up, asked, by = look_up(call)
    with looked_at(connection, dialect, is_meant(state)) as database:
        held = Held(find(database, "state", state))
        held.check(asked, by)
        rows = held.rows(database, call.where)
        tree, outputs = _Writing(call, library, looked_up, asked.weighed(held.has), held, rows, by, dialect).statement()
        lines = [f"sqlrank {__version__}: {', '.join(item.name for item in asked.metrics)}", TOLD]
        lines += [PLAIN] if asked.of_lists and not database.looks else []
        statement = Statement(tree, outputs, "\n".join(lines))
        stored = store(statement, dialect, *places, [held.table.written])
        if replace is not None:
            return replacing(statement, stored, dialect, replace, places[-1], database.keeps)
        return render(stored.tree, stored.stamp, dialect, database.keeps)


@dataclass(frozen=True)
class _Writing:
    """What is asked of which rows, and where."""

    call: Call
    library: Library
    looked_up: list[Asked]
    asked: Wanted
    held: Held
    rows: exp.Subquery
    by: list[str]
    dialect: str

    @cached_property
    def keys(self) -> list[str]:
        """The names of the columns of groups, as they are there."""
        return [self.held.column(name).name for name in self.by]

    @cached_property
    def aliases(self) -> dict[str, str]:
        """What metrics are called in the statement."""
        found: dict[str, str] = {}
        for item in self.looked_up:
            found[str(item.metric)] = free(item.metric.slug, {*found.values(), *self.keys})
        return found

    def statement(self) -> tuple[exp.Select, list[Output]]:
        """Return the whole statement, and what its columns are."""
        steps = {KEPT: ("the rows of the state that are added up", self.rows.this)}
        steps |= self._of_orders() if self.asked.ordered else {}
        steps[SUMMED] = "one row per group: what was added up, and what are formulas of that", self._summed()
        outputs = [Output(name, name, "by", quoted=True) for name in self.keys]
        columns = [exp.alias_(named(name, "s"), name, quoted=True) for name in self.keys]
        for item, asked in zip(self.asked.metrics, self.looked_up, strict=True):
            alias = self.aliases[item.name]
            for end, kind in (("", "metric"), ("least", "least"), ("greatest", "greatest"))[: 3 if isinstance(item, Ordered) else 1]:
                name, dotted = (f"{alias}_{end}", f"{item.name}.{end}") if end else (alias, item.name)
                value = exp.column(name, table="b" if isinstance(item, Ordered) else "s")
                sound = exp.EQ(this=exp.column(SOUND, table="s"), expression=literal(1))
                columns.append(exp.alias_(exp.Case(ifs=[exp.If(this=sound, true=value)]), name))
                outputs.append(Output(name, dotted, kind, asked))
        for name in (*([DAYS] if self.held.day is not None else []), ROWS):
            columns.append(exp.alias_(exp.column(name, table="s"), name))
            outputs.append(Output(name, name, name))
        tree = exp.select(*columns).from_(exp.to_table(SUMMED).as_("s"))
        if self.asked.ordered:
            on = same(self.keys, "b", "s", nullable=True)
            how: dict[str, Any] = {"on": exp.and_(*on, wrap=False), "join_type": "left"} if on else {"join_type": "cross"}
            tree = tree.join(exp.to_table(BOUNDED).as_("b"), **how)
        tree = ordered(tree, [named(name) for name in self.keys])
        for name, (title, query) in steps.items():
            if title:
                first_select(query).comments = [fill(f"{name}: {title}", WIDTH, subsequent_indent="   ")]
            tree = tree.with_(name, as_=query, copy=False)
        return tree, outputs

    def _summed(self) -> exp.Select:
        held = self.held
        definition, number = held.column(DEFINITION), held.column(ROWS)
        alike = exp.EQ(this=exp.Min(this=definition), expression=exp.Max(this=definition.copy()))
        is_sound = exp.and_(alike, exp.GTE(this=exp.Min(this=number.copy()), expression=literal(0)))
        shown = [exp.alias_(exp.Case(ifs=[exp.If(this=is_sound, true=literal(1))], default=literal(0)), SOUND)]
        shown += [exp.alias_(exp.Count(this=exp.Distinct(expressions=[held.column(held.day)])), DAYS)] if held.day is not None else []
        shown += [exp.alias_(exp.cast(exp.Sum(this=number), "BIGINT"), ROWS)]
        shown += [exp.alias_(double(named_as(item.formula, held)), self.aliases[item.name]) for item in self.asked.summed]
        keys = [named(name) for name in self.keys]
        query = exp.select(*keys, *shown).from_(KEPT)
        return query.group_by(*(key.copy() for key in keys)) if keys else query

    def _of_orders(self) -> dict[str, tuple[str, exp.Query]]:
        """Return the steps from rows to metrics of an order and their bounds."""
        metrics = {(TIED, item.name): item.metric for item in self.asked.ordered}
        for item in self.asked.ordered:
            metrics |= {key_of(item, bound, self.library): self._of(item, bound) for bound in (*item.least, *item.greatest)}
        keys, bin_ = [named(name) for name in self.keys], self.held.column("bin")
        merged = [exp.alias_(merge(this=self.held.column(name)), name) for name, merge in OF_ORDERS.items()]
        bins = exp.select(*keys, exp.alias_(bin_, "bin"), *merged).from_(KEPT).group_by(*(key.copy() for key in keys), bin_.copy())
        orders = sorted({ORDERS.index(order) for order, _ in metrics})
        wanted = exp.In(this=exp.column(ORDER, table="o"), expressions=[literal(order) for order in orders])
        opened = read_select("states", "opened.sql").where(wanted)
        expand(opened, Known(lambda _: {GROUP: Key(tuple(self.keys), nullable=True)}))
        # In quotes, as they are read: not every engine folds names alike.
        opened.set("expressions", [exp.alias_(item.unalias(), item.alias_or_name, quoted=True) for item in opened.selects])
        each = self._each(list(dict.fromkeys(map(str, metrics.values()))))
        tree = each.tree.copy()
        theirs = {step.alias: ("", step.this) for step in tree.args.pop("with_").expressions}
        tree.set("order", None)
        return {
            BINS: ("one row per group and bin", bins),
            OPENED: (title_of("states", "opened.sql").partition(": ")[2], opened),
            **theirs,
            EACH: ("one row per group and order: the metrics, and those that bound them", tree),
            BOUNDED: ("one row per group: metrics of the order, with what is certain", self._bounded(each)),
        }

    def _of(self, item: Ordered, bound: Bound) -> Any:
        return item.metric if bound.metric is None else parse(bound.metric, self.library)

    def _each(self, texts: list[str]) -> Statement:
        """Return the statement of metrics of predictions over the rows in each order."""
        by = [exp.to_identifier(name, quoted=True).sql() for name in self.keys]
        read = {name: value for name, value in self.call.policies.items() if any(name in item.reads for item in self.asked.ordered)}
        call = Call(
            tuple(texts),
            {"predictions": OPENED},
            {name: f'"{name}"' for name in ("label", "score", "weight")},
            [*by, f'"{ORDER}"'],
            sql_dir=self.call.sql_dir,
            policies=read,
            plan={"order": "grouped"},
        )
        return prepare(question_of(call), named_database(self.dialect, lambda _, source: exp.to_table(source))).statement

    def _bounded(self, each: Statement) -> exp.Select:
        """Return a row per group with each metric under the order that is its value, its least and its greatest."""
        aliases = {output.name: output.alias for output in each.outputs if output.kind == "metric"}
        inner = [output.alias for output in each.outputs if output.kind == "by"]
        keys = [exp.alias_(named(theirs), name, quoted=True) for theirs, name in zip(inner, self.keys, strict=False)]
        number = named(inner[-1])

        def under(choose: type[exp.AggFunc], pairs: list[tuple[str, str]]) -> exp.Expr:
            ifs = [
                exp.If(this=exp.EQ(this=number.copy(), expression=literal(ORDERS.index(order))), true=exp.column(aliases[name]))
                for order, name in pairs
            ]
            return choose(this=exp.Case(ifs=ifs))

        shown = []
        for item in self.asked.ordered:
            alias, value = self.aliases[item.name], under(exp.Max, [(TIED, str(item.metric))])
            shown.append(exp.alias_(value, alias))
            for end, bounds, choose in (("least", item.least, exp.Min), ("greatest", item.greatest, exp.Max)):
                pairs = [(key_of(item, bound, self.library)[0], str(self._of(item, bound))) for bound in bounds]
                found = under(choose, pairs)
                # Where no bin is open there is no order to borrow another metric for.
                is_borrowed = any(bound.metric is not None for bound in bounds)
                shown.append(exp.alias_(exp.func("COALESCE", found, value.copy()) if is_borrowed else found, f"{alias}_{end}"))
        query = exp.select(*keys, *shown).from_(EACH)
        return query.group_by(*(named(theirs) for theirs in inner[: len(self.keys)])) if keys else query
