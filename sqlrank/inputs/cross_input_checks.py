"""Check inputs against each other: common queries and documents, ties, probabilities, settings, and
the join of run and judgments.
"""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from sqlglot import exp

from sqlrank.compiler.relation_ctes import RelationCtes
from sqlrank.compiler.row_keys import SLICE_NUMBER, UNIT_ID, ExpansionContext, expand_keys
from sqlrank.compiler.select_builders import aliased_table, bind_parameters, inline_function
from sqlrank.engines.text_advice import write_mapping
from sqlrank.errors import MAX_EXAMPLES, InputError, to_sentence
from sqlrank.inputs.bound_input import bound_expression, comparable_columns
from sqlrank.inputs.class_names import describe_other_classes, find_class_columns, share_classes
from sqlrank.inputs.row_checks import (
    RANKING_KEYS,
    ValidationReport,
    describe_further_rows,
    duplicate_advice,
    format_problem,
    problem_with_examples,
    raise_problems,
    select_over_input,
    short_value,
)
from sqlrank.registry.query_templates import RowCheck, load_select, read_row_checks, share_select
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.renderer import to_sql
from sqlrank.sql_ast import (
    case_when,
    count_rows,
    find_nodes,
    is_null,
    quoted_column,
    replace_columns,
    sql_literal,
    take_first,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sqlrank.engines.database import Database
    from sqlrank.inputs.bound_input import BoundInput, BoundInputs
    from sqlrank.inputs.input_ctes import InputCtes
    from sqlrank.registry.registry import Registry
    from sqlrank.registry.resolved_metric import ResolvedMetric

MAX_ROWS_COMPARED = 5_000
"""Rows of an input up to which all ids are searched for those that differ in their form only."""


def check_ranking_join(
    inputs: Mapping[str, BoundInput],
    report: ValidationReport,
    audited: tuple[float, float],
    expected: float | None,
) -> None:
    """Check the join of run and judgments after computing.

    Args:
        inputs: The inputs by role.
        report: Outcome of the row checks.
        audited: Number of relevant judged documents after the join, and of those that were
            retrieved.
        expected: The first number without duplicates, None if unknown.
    """
    docs, retrieved = audited
    if not report.all_rows and docs != expected:
        raise_problems(_find_relevant_duplicates(inputs["run"], inputs["qrels"]))
    if not retrieved:
        check_overlap(inputs)


def _find_relevant_duplicates(run: BoundInput, qrels: BoundInput) -> list[str]:
    """Find duplicates of relevant documents by a join with the judgments.

    The join is smaller than the run.
    """
    columns = [
        *(quoted_column(name, "run") for name in run.group_names),
        *(exp.column(name, table="run") for name in RANKING_KEYS),
    ]
    join_condition = _equal_keys(RANKING_KEYS)
    num_rows = count_rows().as_("times")
    queries = []
    for for_display in (False, True):
        judgments = exp.select(*RANKING_KEYS).from_(
            qrels.select_columns((*RANKING_KEYS, "relevance"), for_display=for_display).subquery(
                "judged"
            )
        )
        judgments = judgments.where("relevance > 0").group_by(*RANKING_KEYS)
        query = exp.select(*columns, num_rows).from_(
            run.select_columns(RANKING_KEYS, for_display=for_display).subquery("run")
        )
        queries.append(
            query.join(judgments.subquery("qrels"), on=join_condition)
            .group_by(*columns)
            .having("COUNT(*) > 1")
        )
    if not run.database.query_rows(take_first(queries[0])):
        return []
    problem = (
        f"({', '.join(column.name for column in columns)}) occurs more than once."
        f" {duplicate_advice(run)}"
    )
    return [format_problem(run, problem, queries[0], queries[1])]


def _equal_keys(keys: tuple[str, ...]) -> exp.Condition:
    return exp.and_(
        *(exp.column(key, table="run").eq(exp.column(key, table="qrels")) for key in keys)
    )


def load_audit(counts_null_ids: bool) -> exp.Select:
    """Return the columns that :func:`check_ranking_join` reads, as a metric file, with the number
    of NULLs in lists of documents if needed.
    """
    return share_select(
        "inputs/checks", "list_audit.sql" if counts_null_ids else "document_audit.sql"
    )


def check_overlap(inputs: Mapping[str, BoundInput]) -> None:
    """Check that some query of run and qrels is in both, and some document, of whatever query."""
    run = inputs["run"].select_columns(RANKING_KEYS).subquery("run")
    qrels = inputs["qrels"].select_columns(RANKING_KEYS).subquery("qrels")
    components = {inputs[role].assembled_from.partition(".")[0] for role in ("run", "qrels")}
    for key in RANKING_KEYS:
        if not inputs["run"].database.query_rows(
            exp.select("1").from_(run.copy()).join(qrels.copy(), on=_equal_keys((key,))).limit(1)
        ):
            examples = [
                inputs["run"].database.query_rows(take_first(exp.select(key).from_(source.copy())))
                for source in (run, qrels)
            ]
            if not all(examples) or (
                key == RANKING_KEYS[0] and len(components) == 1 and components != {""}
            ):
                return  # of one row per query, of which none has both lists
            labels = [inputs[role].assembled_from or role for role in ("run", "qrels")]
            similar = describe_similar_ids([(inputs[role], key) for role in ("qrels", "run")])
            raise InputError(
                f"{' and '.join(labels)} have no {key} in common."
                f" {_describe_examples(labels, (short_value(rows[0][0]) for rows in examples))}"
                f"{_read_as_text(inputs, (key,))}{similar and '. '}{similar}"
            )


def count_unmatched_ids(
    inputs: Mapping[str, BoundInput], key: str, *, with_scores: bool = False
) -> list[tuple[Any, ...]]:
    """Return the groups of a run, each with the number of its queries or documents that no judgment
    of the group has, and of all; ``with_scores`` before these the number of those with several rows
    whose scores are all equal, and of all with several rows.
    """
    run = inputs["run"].select_columns((key, "score") if with_scores else (key,))
    qrels = inputs["qrels"].select_columns((key,))
    groups, judged_groups = (tuple(inputs[role].group_names) for role in ("run", "qrels"))
    database = inputs["run"].database
    return database.fetch_rows(
        _write_unmatched_counts(
            run, qrels, groups, judged_groups, key, with_scores, database.dialect
        )
    )


@lru_cache(maxsize=256)
def _write_unmatched_counts(
    run: exp.Select,
    qrels: exp.Select,
    group_names: tuple[str, ...],
    judged_groups: tuple[str, ...],
    key: str,
    with_scores: bool,
    dialect: str,
) -> str:
    """Return the query of ``count_unmatched_ids``."""
    judged_key = exp.column(key, table="judged")
    shared = [name for name in group_names if name in judged_groups]
    keys = [*map(quoted_column, group_names), exp.column(key)]
    ids = exp.select(*keys).from_(run.subquery("run")).group_by(*keys)
    score_counts: list[exp.Expr] = []
    if with_scores:
        lists = load_select("inputs/advice", "equal_scores.sql").args["from_"].this.this
        ids = ids.select(lists.selects[-1])
        has_one_score = exp.column("has_one_score", table="run")
        score_counts = [exp.Sum(this=has_one_score), exp.Count(this=has_one_score.copy())]
    judged = (
        exp.select(*map(quoted_column, shared), key)
        .distinct()
        .from_(qrels.subquery("qrels"))
        .subquery("judged")
    )
    groups = [quoted_column(name, "run") for name in group_names]
    query = exp.select(
        *groups,
        *score_counts,
        exp.Sum(this=case_when(is_null(judged_key), 1, 0)),
        count_rows(),
    ).from_(ids.subquery("run"))
    on = exp.and_(
        exp.column(key, table="run").eq(judged_key),
        *(
            exp.NullSafeEQ(
                this=quoted_column(name, "run"), expression=quoted_column(name, "judged")
            )
            for name in shared
        ),
    )
    return to_sql(
        query.join(judged, on=on, join_type="left").group_by(*(group.copy() for group in groups)),
        dialect,
    )


def count_stale_gold(inputs: Mapping[str, BoundInput], role: str) -> tuple[int, int, float]:
    """Return the numbers of relevant documents that an input, the run or the catalog, does not
    have, and of all, and the mean share of a query.
    """
    qrels, documents = (
        inputs["qrels"].select_columns((*RANKING_KEYS, "relevance")),
        inputs[role].select_columns(("doc_id",)),
    )
    ((stale, relevant, mean_share),) = inputs["qrels"].database.fetch_rows(
        _write_stale_gold(qrels, documents, inputs["qrels"].database.dialect)
    )
    return int(stale or 0), int(relevant or 0), float(mean_share or 0)


@lru_cache(maxsize=256)
def _write_stale_gold(qrels: exp.Select, documents: exp.Select, dialect: str) -> str:
    """Return the query of ``inputs/advice/stale_gold.sql`` over judgments and the documents
    that there are.
    """
    query = load_select("inputs/advice", "stale_gold.sql")
    for table in find_nodes(query, exp.Table):
        table.replace((documents if table.name == "documents" else qrels).subquery(table.name))
    return to_sql(query, dialect)


def describe_similar_ids(
    sides: Sequence[tuple[BoundInput, str]],
    max_rows: int | None = None,
    groups: Sequence[Sequence[Any]] = (),
) -> str:
    """Return a sentence on values of one column that no value of another equals, but in another
    form, empty if there are none.

    Args:
        sides: The two inputs with their columns.
        max_rows: Number of first rows to look at, by default all.
        groups: Groups of the second input to look at, by default all.
    """
    if {bound_input.column_type(name) for bound_input, name in sides} != {"VARCHAR"}:
        return ""
    database = sides[0][0].database
    first, second = (_select_values(*side, max_rows) for side in sides)
    is_class = all(
        bound_input.role.columns[column].references == "class" for bound_input, column in sides
    )
    similar = find_similar_ids(
        database.query_rows,
        database.dialect,
        first,
        _filter_groups(second, sides[1][0].group_names, groups),
        keeps_case=not is_class,
    )
    if similar is None:
        return ""
    form, difference = similar
    labels = " and ".join(bound_input.qualified_label(column) for bound_input, column in sides)
    note = f"{labels} {difference}"
    if any(bound_input.assembled_from for bound_input, _ in sides):
        return f"{note}. Write both in one form"
    values = [
        _write_form(form, _text_expression(bound_input, column), database.dialect)
        for bound_input, column in sides
    ]
    names = [column for _, column in sides]
    if sides[0][0].role is sides[1][0].role and names[0] == names[1]:
        return f"{note}. Write both in one form, in one row for each"
    if names[0] == names[1] and values[0] != values[1]:
        names = [f"{bound_input.role.name}.{column}" for bound_input, column in sides]
    return (
        f"{note}. Map both to one form, such as"
        f" {write_mapping(dict(zip(names, values, strict=True)), sides[0][0].table.dialect)}"
    )


def list_similar_ids(inputs: BoundInputs) -> list[str]:
    """Return a note on each pair of columns that are compared across small inputs, and some of
    whose ids are equal in another form only; run and judgments are left to ``check_overlap`` and
    the notes on lists. Only DuckDB is asked, where small queries cost nothing.
    """
    database = inputs.database
    if database.has_unread_streams or not get_dialect(database.dialect).supports_file_readers:
        return []
    columns = {
        role: names for role, names in inputs.needed_columns.items() if role in inputs.by_role
    }
    # Of these, judgments are compared with the run, where there are any.
    indirect = [{"run", "qrels"}, *([{"run", "queries"}] if "qrels" in columns else [])]
    pairs = [
        [(inputs.by_role[role], name) for role, name in pair]
        for compared in comparable_columns(inputs.by_role, columns).values()
        for pair in combinations(compared, 2)
        if {role for role, _ in pair} not in indirect and pair[0][0] != pair[1][0]
    ]
    sides = {
        (bound_input.role.name, name): bound_input for pair in pairs for bound_input, name in pair
    }
    values = _read_values(
        {
            (role, name): bound_input.select_columns((name,))
            for (role, name), bound_input in sides.items()
            if bound_input.column_type(name) == "VARCHAR" and _has_few_rows(bound_input, name)
        },
        database,
    )
    notes = []
    for pair in pairs:
        keys = [(bound_input.role.name, name) for bound_input, name in pair]
        if all(key in values for key in keys) and _may_be_similar(*(values[key] for key in keys)):
            notes.append(describe_similar_ids(pair))
    return [*dict.fromkeys(filter(None, notes))]


def _read_values(
    columns: Mapping[tuple[str, str], exp.Select], database: Database
) -> dict[tuple[str, str], set[str]]:
    """Return the values of queries of one column by key, of which all are read by one statement."""
    values: dict[tuple[str, str], set[str]] = {key: set() for key in columns}
    if len(columns) > 1:
        keys = [*columns]
        parts = [
            exp.select(sql_literal(place).as_("place"), exp.column(name).as_("value")).from_(
                rows.subquery(f"{role}_rows")
            )
            for place, ((role, name), rows) in enumerate(columns.items())
        ]
        for place, value in database.query_rows(exp.union(*parts, distinct=False)):
            values[keys[place]].add(value)
    return values


def _may_be_similar(first: set[str], second: set[str]) -> bool:
    """Return False if no value of a set that is not in the other can be another form of a value of
    the other: both differ in small letters without blanks, zeros and points, and all are ASCII.
    """
    others = [
        {
            value.translate(_FORM_CHARACTERS).lower() if value.isascii() else None
            for value in values
            if value is not None
        }
        for values in (first - second, second - first)
    ]
    return all(others) and (None in {*others[0], *others[1]} or not others[0].isdisjoint(others[1]))


_FORM_CHARACTERS = str.maketrans("", "", " .0" + "".join(map(chr, [*range(32), 127])))
"""Characters that are left out in some form of ``inputs/advice/id_forms.sql``."""


def _has_few_rows(bound_input: BoundInput, name: str) -> bool:
    if bound_input.table.num_rows is not None:
        return bound_input.table.num_rows <= MAX_ROWS_COMPARED
    rows = bound_input.select_columns((name,)).limit(MAX_ROWS_COMPARED + 1)
    ((count,),) = bound_input.database.query_rows(
        exp.select(count_rows()).from_(rows.subquery("first_rows"))
    )
    return int(count) <= MAX_ROWS_COMPARED


def find_similar_ids(
    query_rows: Callable[[exp.Query], Sequence[Sequence[Any]]],
    dialect: str,
    first: exp.Select,
    second: exp.Select,
    *,
    keeps_case: bool,
) -> tuple[RowCheck, str] | None:
    """Return the weakest form of ``inputs/advice/id_forms.sql``, such as letters in one case, in
    which most ids of two queries of a column ``value`` are equal that are not as they are written,
    and in words in what they differ; None if there are none.

    Case tells some ids apart: if ``keeps_case``, the forms without it are left out where the others
    make most ids equal.
    """
    forms = {
        form.name: form
        for form in map(RowCheck, load_select("inputs/advice", "id_forms.sql").selects)
    }

    def select_pairs(name: str) -> exp.Select:
        return _pair_similar_ids(first, second, forms[name], dialect)

    in_all = _count_pairs(query_rows, select_pairs("all_forms"))
    if not in_all[0]:
        return None
    in_same_case = _count_pairs(query_rows, select_pairs("same_case")) if keeps_case else (0, 0)
    needed = in_same_case if 2 * in_same_case[0] >= in_all[0] else in_all
    name, (num_first, num_second) = next(
        (name, counts)
        for name in forms
        if (counts := _count_pairs(query_rows, select_pairs(name))) == needed
    )
    examples = select_pairs(name).select(*(value.as_(f"{value.table}_example") for value in _PAIR))
    (example,) = query_rows(take_first(examples))
    return forms[name], (
        f"differ in {forms[name].meaning} only in {num_first:,} and {num_second:,} values, such as"
        f" {' and '.join(map(short_value, example))}"
    )


_PAIR = exp.column("value", "first_values"), exp.column("value", "second_values")


def _text_expression(bound_input: BoundInput, name: str) -> exp.Expr:
    """Return the expression that is bound to a name, as a text."""
    value = bound_expression(bound_input, name)
    return exp.cast(value, "VARCHAR") if name in bound_input.as_text else value


def _write_form(form: RowCheck, value: exp.Expr, dialect: str) -> exp.Expr:
    """Return the expression of a form of ids over a value, without what the dialect does not
    have.
    """
    composing_function = get_dialect(dialect).composing_function
    query, expression = form.column.parent, form.column.this
    while isinstance(source := query.args["from_"].this, exp.Subquery):
        query = source.this
        steps = {step.alias_or_name: step.unalias() for step in query.selects}
        expression = replace_columns(expression, steps.get)
    tree = exp.Paren(this=expression.copy())
    if not get_dialect(dialect).supports_file_readers:  # classes of characters are DuckDB's
        for replacement in find_nodes(tree, exp.RegexpReplace):
            replacement.replace(replacement.this)
    for call in find_nodes(tree, exp.Anonymous):
        if composing_function:
            call.set("this", composing_function)
        else:
            call.replace(call.expressions[0])
    return replace_columns(tree.this, lambda _: value)


def _select_values(bound_input: BoundInput, name: str, max_rows: int | None) -> exp.Select:
    """Return the query of the values of a column, with the groups of its rows at hand."""
    rows = bound_input.select_columns((name,))
    return (
        exp.select(exp.column(name).as_("value"))
        .distinct()
        .from_((rows.limit(max_rows) if max_rows else rows).subquery("source"))
    )


def _filter_groups(
    query: exp.Select, names: Sequence[str], groups: Sequence[Sequence[Any]]
) -> exp.Select:
    """Return a query of the rows of some groups, by default of all."""
    conditions = [
        exp.and_(
            *(
                quoted_column(name).eq(exp.convert(value))
                for name, value in zip(names, group, strict=True)
            )
        )
        for group in groups
    ]
    return query.where(exp.or_(*conditions)) if conditions else query


def _pair_similar_ids(
    first: exp.Select, second: exp.Select, form: RowCheck, dialect: str
) -> exp.Select:
    """Return the pairs of values of two queries that are equal in a form, and of which neither is a
    value of the other query; of one query, its pairs.
    """
    first_form, second_form = (_write_form(form, value, dialect) for value in _PAIR)
    sides = (
        (first, second)
        if first is second
        else (_leave_out(first, second), _leave_out(second, first))
    )
    pairs = exp.select().from_(sides[0].subquery("first_values"))
    pairs = pairs.join(sides[1].subquery("second_values"), on=first_form.eq(second_form))
    if first is second:
        pairs = pairs.where(exp.LT(this=_PAIR[0].copy(), expression=_PAIR[1].copy()))
    return pairs


def _leave_out(values: exp.Select, others: exp.Select) -> exp.Select:
    """Return the values of a query that another does not have."""
    is_other = exp.In(this=exp.column("value"), query=others.subquery())
    return exp.select("value").from_(values.subquery("own_values")).where(exp.Not(this=is_other))


def _count_pairs(
    query_rows: Callable[[exp.Query], Sequence[Sequence[Any]]], pairs: exp.Select
) -> tuple[int, int]:
    """Return the numbers of different first and second values of pairs."""
    counts = [exp.Count(this=exp.Distinct(expressions=[value.copy()])) for value in _PAIR]
    ((num_first, num_second),) = query_rows(pairs.select(*counts))
    return int(num_first), int(num_second)


def _describe_examples(labels: Sequence[str], examples: Iterable[str]) -> str:
    """Return a sentence on the ids of two inputs that have none in common, and the next step."""
    first, second = (
        f"{label} has {example}" for label, example in zip(labels, examples, strict=True)
    )
    return (
        f"For example, {first} and {second}. Map ids to the same form, or give inputs of one"
        " collection"
    )


def _read_as_text(inputs: Mapping[str, BoundInput], keys: Sequence[str]) -> str:
    """Describe keys whose types differ between run and qrels, which were compared as text."""
    text_keys = [
        (role, bound_input, key)
        for role, bound_input in inputs.items()
        for key in keys
        if key in bound_input.as_text
    ]
    type_notes = [
        f"{role}.{key} is {bound_input.table.types[bound_input.columns[key]]}"
        for role, bound_input, key in text_keys
    ]
    return f" ({', '.join(type_notes)}, and was read as text)" if type_notes else ""


def describe_classes(base: BoundInput, max_rows: int | None) -> str:
    """Return a note on an input of whose predicted and observed classes none are the same, or some
    but for their form, empty for others.

    Args:
        base: The input.
        max_rows: Number of first rows to look at, by default all.

    Raises:
        InputError: No label is one of the classes that have scores.
    """
    columns = find_class_columns(base)
    if not columns:
        return ""
    has_shared = share_classes(columns, max_rows) or (
        max_rows is not None and share_classes(columns)
    )
    similar = describe_similar_ids(columns, max_rows)
    other = "" if has_shared or similar else describe_other_classes(columns)
    if base.role.name == "class_scores" and not has_shared and (similar or other):
        raise InputError(
            f"{base.label}: no label is one of the classes that have scores. {similar or other}"
        )
    return similar or (f"no class is both predicted and observed: {other}" if other else "")


def describe_own_forms(columns: Sequence[tuple[BoundInput, str]], max_rows: int | None) -> str:
    """Return a note on classes or ratings that are equal but for their form, in one column or two,
    with the mapping to one form; empty if there are none.

    Args:
        columns: The input with each column.
        max_rows: Number of first rows to look at, by default all.
    """
    if {bound_input.column_type(name) for bound_input, name in columns} != {"VARCHAR"}:
        return ""
    database = columns[0][0].database
    first, *others = (_select_values(*column, max_rows) for column in columns)
    values = exp.union(first, *others) if others else first
    texts = {value for (value,) in database.query_rows(values) if value is not None}
    if len({*map(_fold_text, texts)}) == len(texts):
        return ""
    query = exp.select("value").from_(values.subquery("classes"))
    similar = find_similar_ids(
        database.query_rows, database.dialect, query, query, keeps_case=False
    )
    if similar is None:
        return ""
    form, difference = similar
    mapping = {
        name: _write_form(form, _text_expression(bound_input, name), database.dialect)
        for bound_input, name in columns
    }
    labels = [bound_input.qualified_label(name) for bound_input, name in columns]
    return (
        f"values of {' and '.join(dict.fromkeys(labels))} {difference}. Map them to one form, such"
        f" as {write_mapping(mapping, columns[0][0].table.dialect)}"
    )


def _fold_text(text: str) -> str:
    """Return a text without what its forms may leave out."""
    visible = "".join(character for character in normalize("NFC", text) if character.isprintable())
    return "".join(visible.split()).translate(_FORM_CHARACTERS).lower()


def check_no_ties(bound_input: BoundInput) -> None:
    """Check that no two documents of a list have the same score."""
    keys = [
        *map(quoted_column, bound_input.group_names),
        exp.column("query_id"),
        exp.column("score"),
    ]
    tied_scores = exp.select(*keys, count_rows().as_("docs")).group_by(*keys).having("COUNT(*) > 1")
    if bound_input.database.query_rows(
        take_first(select_over_input(tied_scores, bound_input, ("query_id", "score")))
    ):
        raise InputError(
            problem_with_examples(
                bound_input,
                "equal scores in a list, and ties='error'",
                tied_scores,
                ("query_id", "score"),
            )
        )


def check_ranks(
    bound_input: BoundInput,
    *,
    has_gaps: bool,
    can_have_gaps: bool,
    is_deduplicated: bool,
) -> None:
    """Check that the ranks of each list are integers, each once, and from 1 to its length unless
    they may have gaps.

    ``can_have_gaps``: they would have them under ``ranks=given``.
    """
    columns = ("query_id", "doc_id", "rank") if is_deduplicated else ("query_id", "rank")
    wrong_lists, advice = (
        load_select("inputs/checks", "list_ranks.sql"),
        load_select("inputs/advice", "rank_advice.sql"),
    )
    if has_gaps:
        having = wrong_lists.args["having"]
        having.set("this", having.this.this)
    keys = [*map(quoted_column, bound_input.group_names)]
    wrong_lists.set("expressions", [*keys, *wrong_lists.expressions])

    def select_lists(query: exp.Select, for_display: bool = False) -> exp.Select:
        rows = bound_input.select_columns(columns, for_display=for_display, keep_types=True)
        source = (rows.distinct() if is_deduplicated else rows).subquery(bound_input.role.name)
        query.set("from_", None)
        return query.from_(source).group_by(*(key.copy() for key in keys))

    examples = select_lists(wrong_lists)
    if bound_input.database.query_rows(take_first(examples)):
        lists = advice.args["from_"].this
        lists.set("this", select_lists(lists.this))
        next_rank = exp.Add(this=bound_expression(bound_input, "rank"), expression=sql_literal(1))
        mapping = write_mapping({"rank": next_rank}, bound_input.table.dialect)
        steps = [
            to_sentence(check.meaning.format(mapping=mapping))
            for check, holds in zip(
                map(RowCheck, advice.selects),
                bound_input.database.query_rows(advice)[0],
                strict=True,
            )
            if holds and (can_have_gaps or check.requirement != "positions")
        ]
        problem = (
            "rank has to be integers from 1, each once in a list"
            if has_gaps
            else "rank has to be 1, 2, 3 to the length of a list"
        )
        steps += [
            (
                "Keep one document at each rank"
                if has_gaps
                else "Number the documents of each list from 1"
            )
        ]
        raise_problems(
            [
                format_problem(
                    bound_input,
                    f"{problem}. {steps[0]}",
                    examples,
                    select_lists(wrong_lists, for_display=True),
                )
            ]
        )


def check_queries_present(inputs: Mapping[str, BoundInput], roles: Sequence[str]) -> None:
    """Check that each input contains a query of the queries table, if any."""
    for role in roles if "queries" in inputs else ():
        subqueries = [
            inputs[name]
            .select_columns(RANKING_KEYS[:1])
            .subquery("run" if name == role else "qrels")
            for name in ("queries", role)
        ]
        if not inputs["queries"].database.query_rows(
            exp.select("1")
            .from_(subqueries[0])
            .join(subqueries[1], on=_equal_keys(RANKING_KEYS[:1]))
            .limit(1)
        ):
            queries_example, input_example = (
                inputs["queries"].database.query_rows(
                    take_first(exp.select("query_id").from_(subquery.copy()))
                )[0][0]
                for subquery in subqueries
            )
            labels = f"{inputs['queries'].label} and {inputs[role].label}"
            examples = (short_value(queries_example), short_value(input_example))
            similar = describe_similar_ids(
                [(inputs[name], "query_id") for name in (role, "queries")]
            )
            raise_problems(
                [
                    (
                        f"{labels} have no query_id in common."
                        f" {_describe_examples(('queries', role), examples)}"
                        f"{similar and '. '}{similar}"
                    )
                ]
            )


def check_same_queries(inputs: Mapping[str, BoundInput]) -> None:
    """Check that run and qrels contain the same queries."""
    problems = list(
        _describe_unmatched(
            inputs, ("qrels", "run"), "judged, but not answered, and queries='strict'"
        )
    )
    problems += _describe_unmatched(
        inputs, ("run", "qrels"), "answered, but not judged, and queries='strict'"
    )
    raise_problems(problems)


def _describe_unmatched(
    inputs: Mapping[str, BoundInput], roles: tuple[str, str], problem: str
) -> Iterator[str]:
    """Describe the queries that only the first of two inputs contains."""
    if rows := inputs[roles[0]].database.query_rows(
        take_first(_select_unmatched(inputs, roles, for_display=False), MAX_EXAMPLES)
    ):
        further_rows = describe_further_rows(
            inputs[roles[0]].database, _select_unmatched(inputs, roles, for_display=True)
        )
        yield (
            f"queries {problem}: {', '.join(short_value(row[0]) for row in rows)}\n   "
            f" {further_rows}"
        )


def _select_unmatched(
    inputs: Mapping[str, BoundInput], roles: tuple[str, str], for_display: bool
) -> exp.Select:
    """Return the query for the queries that only the first of two inputs contains; ``for_display``
    selects the user's notation.
    """

    def read_queries(role: str, name: str) -> exp.Subquery:
        return inputs[role].select_columns(RANKING_KEYS[:1], for_display=for_display).subquery(name)

    query = exp.select("query_id").distinct().from_(read_queries(roles[0], "these"))
    query = query.where(exp.Not(this=_in_run_queries(read_queries(roles[1], "other"))))
    return (
        query.where(_in_run_queries(read_queries("queries", "chosen")))
        if "queries" in inputs
        else query
    )


def _in_run_queries(source: exp.Subquery) -> exp.In:
    return exp.In(
        this=exp.column("query_id"), query=exp.select("query_id").from_(source).subquery()
    )


def check_probabilities(
    database: Database,
    library: Registry,
    metrics: Sequence[ResolvedMetric],
    top_grade: float | None,
) -> None:
    """Check that probability functions are at most 1 at the greatest relevance."""
    if top_grade is None:
        return
    grade = exp.Literal.number(repr(float(top_grade)))
    for metric in metrics:
        for slot in [slot for file in metric.dependencies.files for slot in file.probabilities]:
            probability = inline_function(library, slot, [grade], metric.settings)
            if database.query_rows(exp.select(probability))[0][0] > 1:
                raise InputError(
                    f"{metric.metric}: a relevance of {top_grade:g} gives a {slot} above 1. Give"
                    " the highest grade of the scale with max_grade, or another function with"
                    f" {slot}"
                )


def check_settings_against_data(
    inputs: BoundInputs, metrics: Sequence[ResolvedMetric], input_ctes: InputCtes
) -> None:
    """Run the data checks that the files of metrics declare with ``-- Validate:``, and policies
    with ``validate``, for their settings.

    Raises:
        InputError: A check returns rows.
    """
    request = inputs.request
    library = request.library
    labels = {column.name: column.label for column in input_ctes.shape.group_columns}
    problems = []
    checked: set[tuple[exp.Expr, bool]] = set()
    for metric in metrics:
        for name in (
            *library.policy_checks(metric.dependencies.settings, metric.settings),
            *metric.dependencies.list_annotations("Validate"),
        ):
            file = library.checks[name]
            tree: Any = bind_parameters(
                library, load_select(file), metric.settings, metric.file.params
            )
            per_list = request.per_query or metric.settings.get("level") == "query"
            if (tree, per_list) in checked:
                continue
            if not inputs.has_units and any(
                column.name == UNIT_ID for column in find_nodes(tree, exp.Column)
            ):
                continue  # units are read for intervals only
            checked.add((tree.copy(), per_list))
            relations = RelationCtes(library, input_ctes.sources, input_ctes.shape)
            for table in list(tree.find_all(exp.Table)):
                table.replace(
                    aliased_table(
                        relations.add_relation(table.name, metric.settings), table.alias_or_name
                    )
                )
            expand_keys(tree, ExpansionContext(partial(relations.find_keys, per_list=per_list)))
            keys = [column.name for column in tree.selects[:-1]]
            tree = take_first(tree, MAX_EXAMPLES)
            for cte in relations.ctes:
                tree = tree.with_(cte.name, as_=cte.query)
            advice = read_row_checks(file)[0].meaning
            for row in inputs.database.query_rows(inputs.with_temporary_tables(tree)):
                pairs = zip(keys, row, strict=False)
                location = ", ".join(
                    f"{labels.get(column, column)}={short_value(value)}"
                    for column, value in pairs
                    if column != SLICE_NUMBER
                )
                problems.append(
                    f"{metric.metric}: {row[-1]:,.10g}"
                    f" {tree.selects[-1].alias}{location and ' where '}{location}: {advice}"
                )
    raise_problems([*problems, *(list_similar_ids(inputs) if problems else [])])
