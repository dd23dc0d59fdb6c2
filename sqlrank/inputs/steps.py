"""Inputs as the first steps of a statement: one each, with mapping and filter in one place, and what is derived from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.engines.dialects import dialect_of
from sqlrank.errors import MetricError
from sqlrank.statement.keys import GROUP, QUERY, SCORED_BY, Key, Ours, key, same
from sqlrank.statement.relations import Shape, Source, sliced, stacked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.inputs.columns import Columns
    from sqlrank.inputs.input import Input

GIVEN = "predictions_given"
"""The step that holds predictions of all queries, where only some are evaluated."""

RAW = "predictions read"
"""The step that reads predictions with several scores, which are then put below one another."""


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
    sources: dict[str, Source] = {}
    for role, item in columns.inputs.items():
        if role in {"run", "qrels"} and question.labelled:
            continue
        sources |= _predictions(columns, item) if role == "predictions" else {role: _of_table(columns, item)}
    base = question.base
    if base is not None and question.labelled and "queries" in sources:
        sources |= _chosen(sources["predictions"])
    if question.labelled:
        sources |= _derived(columns, sources["predictions"])
    if base is not None and sets is not None:
        sources[f"{base} per slice"] = _per_slice(base, sources[base], shape)
    return Steps(sources, shape, [*(["score"] if scored else []), *columns.shown])


def _title(item: Input) -> str:
    return f"{item.role.name}: {item.role.about}"


def _of_table(columns: Columns, item: Input) -> Source:
    role = item.role
    float32 = role.name == "run" and _is_float32(columns)
    names = [name for name, column in role.columns.items() if not column.optional or column.default is not None or name in item.names]
    names += ["rank"] if role.name == "run" and "rank" not in names else []
    is_ranking = role.lists is not None
    return Source(
        _title(item),
        Key(tuple(item.by), nullable=True),
        item.select(names, float32, shown=True),
        list_column=Ours(role.list_column) if role.list_column else QUERY,
        has_lists=not is_ranking and role.list_column is not None,
    )


def _is_float32(columns: Columns) -> bool:
    dialect = columns.database.dialect
    if columns.question.settings.get("score_type") != "float32":
        return False
    if not dialect_of(dialect).has_float32:
        raise MetricError(f"score_type='float32' is not possible on {dialect}, which has doubles only; give score_type='float64'")
    return True


def _predictions(columns: Columns, item: Input) -> dict[str, Source]:
    """Return the predictions; several scores are put below one another, told apart by the name of the column."""
    question = columns.question
    needed = dict.fromkeys([*columns.needed.get("predictions", ()), "weight"])
    if question.labelled:
        needed |= dict.fromkeys([*columns.needed["run"], "label", "rank"])
    others = [name for name in needed if name != "score"]
    source = Source(_title(item), Key(tuple(item.by), nullable=True), item.select(["score", *others], shown=True), has_lists=True)
    if len(columns.scores) < 2:  # noqa: PLR2004  one is no choice
        return {"predictions": source}
    raw = item.select(others, shown=True)
    parts = []
    for number, theirs in enumerate(columns.each_score(), start=1):
        raw = raw.select(exp.alias_(item.value("score"), f"score_{number}"))
        shown = [*map(key, item.by), exp.alias_(exp.column(f"score_{number}"), "score"), *map(exp.column, others)]
        parts.append(exp.select(*shown, exp.alias_(exp.Literal.string(theirs), SCORED_BY)).from_(exp.Table(this=exp.to_identifier(RAW))))
    group = Key((SCORED_BY, *item.by), nullable=True)
    return {
        RAW: Source(_title(item), Key(tuple(item.by), nullable=True), raw),
        "predictions": Source("predictions: a row per example and score", group, stacked(parts), RAW, has_lists=True),
    }


def _chosen(predictions: Source) -> dict[str, Source]:
    """Return the predictions of the queries that the table of queries holds, beside metrics of rankings, which are of these."""
    group = predictions.group.columns
    names = [] if predictions.query is None else predictions.query.named_selects
    shown = [key(name, "p") if name in group else exp.column(name, table="p") for name in names]
    query = exp.select(*shown).from_(exp.to_table(GIVEN).as_("p"))
    query = query.join(exp.to_table("queries").as_("a"), on=exp.and_(*same([QUERY], "a", "p", nullable=False)))
    title = "predictions: a row per example of a query to evaluate"
    return {GIVEN: predictions, "predictions": Source(title, predictions.group, query, GIVEN, has_lists=True, beside=("queries",))}


def _derived(columns: Columns, predictions: Source) -> dict[str, Source]:
    """Return run and judgments, read off the predictions: a NULL label is no judgment."""
    by = predictions.group.columns
    keys: Sequence[exp.Expr] = [*map(key, by), exp.column("query_id"), exp.column("doc_id")]
    run, qrels = columns.inputs["run"], columns.inputs["qrels"]
    single = None
    if _is_float32(columns):
        score = run.value("score", float32=True)
        for column in list(score.find_all(exp.Column)):
            column.replace(exp.column("score"))
        single = exp.select(*keys, exp.alias_(score, "score"), "rank").from_("predictions")
    judged = exp.select(*keys, exp.alias_(exp.column("label"), "relevance")).from_("predictions")
    judged = judged.where(exp.Not(this=exp.Is(this=exp.column("label"), expression=exp.Null())))
    group = Key(by, nullable=True)
    return {
        "run": Source(_title(run), group, single, "predictions"),
        "qrels": Source(_title(qrels), group, judged, "predictions"),
    }


def _per_slice(base: str, source: Source, shape: Shape) -> Source:
    names = [] if source.query is None else source.query.named_selects
    group = source.group.columns
    query = exp.select(*(key(name) if name in group else exp.column(name) for name in names)).from_(exp.Table(this=exp.to_identifier(base)))
    repeated, keys = sliced(query, {GROUP: source.group}, shape)
    return Source(f"{base}, once per slice", keys[GROUP], repeated, base, list_column=source.list_column, has_lists=source.has_lists)
