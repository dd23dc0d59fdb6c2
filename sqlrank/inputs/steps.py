"""Inputs as the first steps of a statement: one each, with mapping and filter in one place, and what is derived from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.engines.dialects import dialect_of
from sqlrank.errors import ContractError, InputError, MetricError
from sqlrank.inputs.input import is_there
from sqlrank.library.nodes import nodes
from sqlrank.statement.expand import Known, expand
from sqlrank.statement.keys import GROUP, QUERY, SCORED_BY, UNIT, Key, Ours, key, same
from sqlrank.statement.relations import Source
from sqlrank.statement.rows import Shape, sliced, stacked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.inputs.columns import Columns
    from sqlrank.inputs.input import Input

AS_GIVEN = "as given"
"""What the source of all rows of an input is called by, where some are left out."""

RAW = "predictions read"
"""The step that reads predictions with several scores, which are then put below one another."""

NUMBERED = "predictions numbered"


TOTAL = "all"
"""What the grouping without columns is called."""


@dataclass(frozen=True)
class Steps:
    """The sources of a statement by name, and what tells its rows apart; ``names`` are those of the caller for ``shape.by``."""

    sources: dict[str, Source]
    shape: Shape
    names: list[str]


def steps_of(columns: Columns, plain: bool) -> Steps:
    """Return the inputs as steps; ``plain`` says that lists have no numbers."""
    question = columns.question
    scored = [SCORED_BY] if len(columns.scores) > 1 else []
    sets = None if question.sets is None else [[*scored, *map(columns.name_of, group)] for group in question.sets]
    labels = [",".join(columns.shown[question.by.index(name)] for name in group) or TOTAL for group in question.sets or ()]
    shape = Shape([*scored, *columns.by], sets, tuple(columns.attributes), plain, tuple(labels))
    _check_intervals(columns, shape)
    sources: dict[str, Source] = {}
    for role, item in columns.inputs.items():
        if role in {"run", "qrels"} and question.labelled:
            continue
        sources |= _predictions(columns, item) if role == "predictions" else _of_table(columns, item)
    base = question.base
    if base is not None and base not in columns.inputs:
        sources |= _joined(columns, base, sources)
    if base is not None and question.labelled and "queries" in sources:
        for name in [name for name in sources if name in {"predictions", f"predictions {AS_GIVEN}"}]:
            sources |= _chosen(name, sources[name])
    if question.labelled:
        sources |= _derived(columns, sources)
    for name in (base, f"{base} {AS_GIVEN}") if base is not None and sets is not None else ():
        if name in sources:
            sources[f"{name} per slice"] = _per_slice(str(name), sources[str(name)], shape)
    return Steps(sources, shape, [*(["score"] if scored else []), *columns.shown])


def _check_intervals(columns: Columns, shape: Shape) -> None:
    """Refuse intervals of a grouping that holds several lists of a query, which are not independent."""
    confidence = columns.question.confidence
    if confidence is None or confidence.is_drawn or not columns.question.is_ranking:
        return
    for label, group in zip(shape.labels, shape.sets or (), strict=False):
        if missing := [name for name in shape.of_lists if name not in group]:
            raise MetricError(
                f"the grouping {label!r} holds several lists of a query, one for each {missing[0]}, which are not independent; "
                "ask for interval='bootstrap', which draws queries, or for one grouping"
            )


def _title(item: Input) -> str:
    return f"{item.role.name}: {item.role.about}"


def _of_table(columns: Columns, item: Input) -> dict[str, Source]:
    """Return an input, and, if rows are left out of it, as it was given."""
    role = item.role
    score_type = _score_type(columns) if role.name == "run" else "given"
    names = [name for name, column in role.columns.items() if not column.optional or column.default is not None or name in item.names]
    names += ["rank"] if role.name == "run" and "rank" not in names else []
    is_ranking = role.lists is not None
    return {
        name: Source(
            _title(item),
            Key(tuple(item.by), nullable=True),
            item.select(names, score_type, shown=True, keeps_null=name != role.name),
            list_column=Ours(role.list_column) if role.list_column else QUERY,
            has_lists=not is_ranking and role.list_column is not None,
        )
        for name in (role.name, *([f"{role.name} {AS_GIVEN}"] if item.valued else ()))
    }


def _joined(columns: Columns, role: str, sources: Mapping[str, Source]) -> dict[str, Source]:
    """Return an input that is made of others, as its file says."""
    library, (first, *others) = columns.question.library, columns.question.bases
    file = library.relations.get((role, "joined"))
    if file is None:
        raise ContractError(
            f"relations/{role}/joined.sql is not there, which says how {role} are made of {first} and {' and '.join(others)}"
        )
    tree = library.checked(file).tree.copy()
    read = {name for name in columns.read_of(role) if name in library.roles[role].columns}
    if missing := sorted(read - set(tree.named_selects)):
        raise InputError(
            f"{first} and {' and '.join(others)} do not say what {missing[0]} is; give {role}= in one table (--input {role}=...)"
        )
    keys = expand(tree, Known(lambda name: {GROUP: sources[name].group}))
    return {role: Source(f"{role}: {library.roles[role].about}", keys[GROUP], tree, first, beside=tuple(others))}


def _score_type(columns: Columns) -> str:
    dialect = columns.database.dialect
    score_type = str(columns.question.settings.get("score_type", "given"))
    if score_type == "float32" and not dialect_of(dialect).has_float32:
        raise MetricError(f"score_type='float32' is not possible on {dialect}, which has doubles only; give score_type='float64'")
    return score_type


def _predictions(columns: Columns, item: Input) -> dict[str, Source]:
    """Return the predictions; several scores are put below one another, told apart by the name of the column."""
    question = columns.question
    needed = dict.fromkeys([*columns.needed.get("predictions", ()), "weight"])
    if question.labelled:
        needed |= dict.fromkeys([*columns.needed["run"], "label", "rank"])
    others = [name for name in needed if name != "score"]
    parts = {"predictions": True} | ({f"predictions {AS_GIVEN}": False} if item.valued else {})
    group = Key(tuple(item.by), nullable=True)
    if len(columns.scores) < 2:  # noqa: PLR2004  one is no choice
        shown = ["score", *others]
        return {
            name: Source(_title(item), group, item.select(shown, shown=True, keeps_null=not is_valued), has_lists=True)
            for name, is_valued in parts.items()
        }
    raw = item.select(others, shown=True, keeps_null=True)
    for number, _ in enumerate(columns.each_score(), start=1):
        raw = raw.select(exp.alias_(item.value("score"), f"score_{number}"))
    numbered, over = _numbered(columns, raw) if columns.rows_are_units else ({}, RAW)
    others += [UNIT] if columns.rows_are_units else []
    title, key_of = "predictions: a row per example and score", Key((SCORED_BY, *item.by), nullable=True)
    scores = tuple(columns.scores) if columns.rows_are_units else ()
    stacks = {name: _stack(columns, item, over, others, is_valued) for name, is_valued in parts.items()}
    return {RAW: Source(_title(item), group, raw), **numbered} | {
        name: Source(title, key_of, stack, over, has_lists=True, scores=scores) for name, stack in stacks.items()
    }


def _numbered(columns: Columns, raw: exp.Select) -> tuple[dict[str, Source], str]:
    """Return predictions with numbers for units.

    DuckDB computes a step once, so that any numbers do; others may number rows anew for each step that reads them: in the order of all
    that is read of them, so that those of the same number are equal.
    """
    shown: list[exp.Expr] = [key(name) if name in columns.by else exp.column(name) for name in raw.named_selects]
    order = exp.Order(expressions=[exp.Ordered(this=item.copy(), nulls_first=True) for item in shown])
    is_once = columns.database.dialect == "duckdb"
    number = exp.Window(this=exp.RowNumber(), order=None if is_once else order)
    query = exp.select(*shown, exp.alias_(number, UNIT)).from_(exp.Table(this=exp.to_identifier(RAW)))
    group = Key(tuple(columns.inputs["predictions"].by), nullable=True)
    return {NUMBERED: Source("predictions: with numbers, which tell rows apart", group, query, RAW)}, NUMBERED


def _stack(columns: Columns, item: Input, over: str, others: Sequence[str], is_valued: bool) -> exp.Query:
    """Return predictions of several scores, put below one another; those without a value are left out if they are to be."""
    parts = []
    for number, theirs in enumerate(columns.scores, start=1):
        score = exp.column(f"score_{number}")
        shown = [*map(key, item.by), exp.alias_(score, "score"), *map(exp.column, others)]
        part = exp.select(*shown, exp.alias_(exp.Literal.string(theirs), SCORED_BY)).from_(exp.Table(this=exp.to_identifier(over)))
        wanted = [score if name == "score" else exp.column(name) for name in item.valued] if is_valued else []
        parts.append(part.where(*map(is_there, wanted)))
    return stacked(parts)


def _chosen(name: str, predictions: Source) -> dict[str, Source]:
    """Return the predictions of the queries that the table of queries holds, beside metrics of rankings, which are of these."""
    group = predictions.group.columns
    columns = [] if predictions.query is None else predictions.query.named_selects
    shown = [key(column, "p") if column in group else exp.column(column, table="p") for column in columns]
    below = f"{name} of all queries"
    query = exp.select(*shown).from_(exp.Table(this=exp.to_identifier(below)).as_("p"))
    query = query.join(exp.to_table("queries").as_("a"), on=exp.and_(*same([QUERY], "a", "p", nullable=False)))
    title = "predictions: a row per example of a query to evaluate"
    return {below: predictions, name: Source(title, predictions.group, query, below, has_lists=True, beside=("queries",))}


def _derived(columns: Columns, sources: Mapping[str, Source]) -> dict[str, Source]:
    """Return run and judgments, read off the predictions: a NULL label is no judgment."""
    given = f"predictions {AS_GIVEN}"
    over = given if given in sources else "predictions"
    by = sources[over].group.columns
    keys: Sequence[exp.Expr] = [*map(key, by), exp.column("query_id"), exp.column("doc_id")]
    run, qrels = columns.inputs["run"], columns.inputs["qrels"]
    single = None
    score_type = _score_type(columns)
    if score_type == "float32" or (score_type == "float64" and run.type_of("score") != "DOUBLE"):
        score = run.value("score", score_type)
        for column in nodes(score, exp.Column):
            column.replace(exp.column("score"))
        single = exp.select(*keys, exp.alias_(score, "score"), "rank").from_(exp.Table(this=exp.to_identifier(over)))
    judged = exp.select(*keys, exp.alias_(exp.column("label"), "relevance")).from_(exp.Table(this=exp.to_identifier(over)))
    judged = judged.where(is_there(exp.column("label")))
    group = Key(by, nullable=True)
    found = {"run": Source(_title(run), group, single, over), "qrels": Source(_title(qrels), group, judged, over)}
    if run.valued:
        every = exp.select(*keys, "score", "rank").from_(exp.Table(this=exp.to_identifier(over))) if single is None else single
        found |= {f"run {AS_GIVEN}": found["run"]}
        found["run"] = Source(_title(run), group, every.where(*map(is_there, map(exp.column, run.valued))), over)
    return found


def _per_slice(base: str, source: Source, shape: Shape) -> Source:
    names = [] if source.query is None else source.query.named_selects
    group = source.group.columns
    query = exp.select(*(key(name) if name in group else exp.column(name) for name in names)).from_(exp.Table(this=exp.to_identifier(base)))
    repeated, keys = sliced(query, {GROUP: source.group}, shape)
    return Source(f"{base}, once per slice", keys[GROUP], repeated, base, list_column=source.list_column, has_lists=source.has_lists)
