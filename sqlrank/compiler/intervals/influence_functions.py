"""Differentiate expressions symbolically by their aggregates, and find the influence of rows on
metrics, by the delta method or as declared, with the CTE whose rows carry it.

The influence of a row on a metric is the sum of the partial derivatives by its SUMs and COUNTs,
each times the row's contribution to that aggregate, unless the file declares another in
``-- Interval: influence ... FROM relation``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import sqlglot
from sqlglot import exp

from sqlrank.compiler.select_builders import (
    bind_parameters,
    cast_double,
    comment_column,
    parenthesize_operator,
)
from sqlrank.errors import MetricError
from sqlrank.sql_ast import add_terms, case_when, find_nodes, is_not_null, is_null, sql_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from sqlrank.compiler.layout import MetricColumn
    from sqlrank.compiler.relation_ctes import RelationCtes
    from sqlrank.registry.resolved_metric import ResolvedMetric
    from sqlrank.registry.sql_file import SqlFile

AGGREGATES = (exp.Sum, exp.Count, exp.Avg)

PartialDerivatives = dict[exp.Expr, exp.Expr]
"""Partial derivatives of an expression by aggregate."""


class NotDifferentiableError(Exception):
    """Error for an expression that is not a differentiable function of sums, such as MAX(x)."""


def partial_derivatives(expression: exp.Expr) -> PartialDerivatives | None:
    """Return the partial derivatives of an expression by aggregate.

    Returns None if it contains no aggregate or is not differentiable. CASE conditions and the
    second argument of NULLIF are treated as constants.
    """
    try:
        return _derive_expression(expand_averages(expression)) or None
    except NotDifferentiableError:
        return None


def row_contribution(total: exp.Expr) -> exp.Expr:
    """Return the contribution of a row to an aggregate."""
    operand = total.this
    if isinstance(total, exp.Sum):
        return exp.func("COALESCE", operand.copy(), exp.Literal.number(0))
    if isinstance(operand, exp.Star):
        return exp.Literal.number(1)
    missing = exp.If(this=is_null(operand.copy()), true=exp.Literal.number(0))
    return exp.Case(ifs=[missing], default=exp.Literal.number(1))


def expand_averages(expression: exp.Expr) -> exp.Expr:
    """Rewrite AVG(x) as SUM(x) / COUNT(x)."""

    def expand_average(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Avg):
            return node
        count = exp.func("NULLIF", exp.Count(this=node.this.copy()), exp.Literal.number(0))
        return exp.paren(exp.Div(this=exp.Sum(this=node.this), expression=count))

    return expression.copy().transform(expand_average)


def _derive_expression(node: exp.Expr) -> PartialDerivatives:
    if isinstance(node, (exp.Sum, exp.Count)):
        return {node: exp.Literal.number(1)}
    if node.find(*AGGREGATES, exp.Max, exp.Min) is None:
        return {}
    rule = _RULES.get(type(node))
    if rule is None:
        raise NotDifferentiableError(type(node).__name__)
    return rule(node)


def _derive_operand(node: exp.Expr) -> PartialDerivatives:
    return _derive_expression(node.this)


def _derive_sum(node: exp.Expr) -> PartialDerivatives:
    return _add_derivatives(_derive_expression(node.this), _derive_expression(node.expression))


def _derive_difference(node: exp.Expr) -> PartialDerivatives:
    return _add_derivatives(
        _derive_expression(node.this), _apply_operator(_derive_expression(node.expression), exp.Neg)
    )


def _derive_negation(node: exp.Expr) -> PartialDerivatives:
    return _apply_operator(_derive_expression(node.this), exp.Neg)


def _derive_product(node: exp.Expr) -> PartialDerivatives:
    left, right = node.this, node.expression
    return _add_derivatives(
        _multiply_derivatives(_derive_expression(left), right),
        _multiply_derivatives(_derive_expression(right), left),
    )


def _derive_ratio(node: exp.Expr) -> PartialDerivatives:
    """Differentiate a quotient a / b.

    The form (a' - (a / b) b') / b overflows only where a / b does.
    """
    numerator, denominator = node.this, node.expression
    terms = _multiply_derivatives(_derive_expression(denominator), node)
    return _divide_derivatives(
        _add_derivatives(_derive_expression(numerator), _apply_operator(terms, exp.Neg)),
        denominator,
    )


def _derive_logarithm(node: exp.Expr) -> PartialDerivatives:
    return _divide_derivatives(_derive_expression(node.this), node.this)


def _derive_exponential(node: exp.Expr) -> PartialDerivatives:
    return _multiply_derivatives(_derive_expression(node.this), node)


def _derive_root(node: exp.Expr) -> PartialDerivatives:
    twice = exp.Mul(this=exp.Literal.number(2), expression=node.copy())
    return _divide_derivatives(
        _derive_expression(node.this), exp.func("NULLIF", twice, exp.Literal.number(0))
    )


def _derive_case(node: exp.Expr) -> PartialDerivatives:
    """Differentiate CASE by branches; aggregates have derivative 0 in branches that do not contain
    them.
    """
    if node.this is not None:
        raise NotDifferentiableError("CASE x WHEN")
    branches = [
        (branch.this, _derive_expression(branch.args["true"])) for branch in node.args["ifs"]
    ]
    default = node.args.get("default")
    default_derivatives = {} if default is None else _derive_expression(default)
    derivatives: PartialDerivatives = {}
    for total in dict.fromkeys(
        total
        for branch_derivatives in [
            *(branch_derivatives for _, branch_derivatives in branches),
            default_derivatives,
        ]
        for total in branch_derivatives
    ):
        zero = exp.Literal.number(0)
        ifs = [
            exp.If(this=condition.copy(), true=branch_derivatives.get(total, zero).copy())
            for condition, branch_derivatives in branches
        ]
        derivatives[total] = exp.Case(
            ifs=ifs,
            default=None if default is None else default_derivatives.get(total, zero).copy(),
        )
    return derivatives


def _derive_alternatives(node: exp.Coalesce) -> PartialDerivatives:
    """Differentiate the first of several expressions that is not NULL."""
    *alternatives, last = [node.this, *node.expressions]
    ifs = [exp.If(this=exp.Not(this=is_null(value.copy())), true=value) for value in alternatives]
    return _derive_case(exp.Case(ifs=ifs, default=last))


_RULES: dict[type[exp.Expr], Callable[[Any], PartialDerivatives]] = {
    exp.Paren: _derive_operand,
    exp.Cast: _derive_operand,
    exp.Nullif: _derive_operand,
    exp.Add: _derive_sum,
    exp.Sub: _derive_difference,
    exp.Neg: _derive_negation,
    exp.Mul: _derive_product,
    exp.Div: _derive_ratio,
    exp.Ln: _derive_logarithm,
    exp.Exp: _derive_exponential,
    exp.Sqrt: _derive_root,
    exp.Case: _derive_case,
    exp.Coalesce: _derive_alternatives,
}


def _add_derivatives(left: PartialDerivatives, right: PartialDerivatives) -> PartialDerivatives:
    both = {
        total: exp.Add(this=left[total], expression=right[total])
        for total in left
        if total in right
    }
    return {**left, **right, **both}


def _apply_operator(
    derivatives: PartialDerivatives, operator: type[exp.Unary]
) -> PartialDerivatives:
    return {
        total: operator(this=parenthesize_operator(factor)) for total, factor in derivatives.items()
    }


def _multiply_derivatives(derivatives: PartialDerivatives, factor: exp.Expr) -> PartialDerivatives:
    literal_one = exp.Literal.number(1)
    return {
        total: parenthesize_operator(factor.copy())
        if derivative == literal_one
        else exp.Mul(
            this=parenthesize_operator(derivative), expression=parenthesize_operator(factor.copy())
        )
        for total, derivative in derivatives.items()
    }


def _divide_derivatives(
    derivatives: PartialDerivatives, denominator: exp.Expr
) -> PartialDerivatives:
    return {
        total: exp.Div(
            this=parenthesize_operator(derivative),
            expression=parenthesize_operator(denominator.copy()),
        )
        for total, derivative in derivatives.items()
    }


UNIT_ANNOTATIONS = {"predictions", "queries", "clusters"}
"""Values of ``-- Sampling unit: predictions`` of relations whose rows are units or parts of
units.
"""


CLASS_TOTALS = (
    "positive_weight",
    "positive_squares",
    "positive_rows",
    "negative_weight",
    "negative_squares",
    "negative_rows",
)
"""Columns of class totals that rows provide for intervals of two-class metrics."""

CELL_SQUARES = "cell_squares"
"""Sum of the squared effects of rows of rare cells, which rows of influence carry along."""

ROW_COUNT = "num_rows"
"""Column of relations with the number of rows in all cells."""

CLASSES = ("positives", "negatives")
"""Sums of the rows of both classes."""

CLASS_UNITS = ("positive_units", "negative_units")
"""Sums of the units of several rows with a row of each class."""

MAX_DERIVATIVE_NAME = 26
"""Characters from which the names of a metric and of one of its sums are too long together, for a
product of columns on one line.
"""


@dataclass(frozen=True)
class InfluenceRows:
    """The rows that carry a metric's influence.

    Attributes:
        step: The CTE of the rows.
        units: Columns that identify units.
        kind: ``values``: each row is the metric value of one unit (NULL: not a unit);
            ``contributions``: rows are summed per unit, or are units themselves; ``equal_units``:
            each row represents several units with equal influence.
    """

    step: str
    units: tuple[str, ...]
    kind: Literal["values", "contributions", "equal_units"]


def find_influence(
    relations: RelationCtes,
    query: exp.Select,
    column: MetricColumn,
    rows_are_values: bool,
    only_entering: bool,
) -> tuple[InfluenceRows, exp.Expr] | None:
    """Return the rows that carry a metric's influence, and the influence of each.

    The influence is an expression over ``r``, the rows, and ``m``, the metrics of the group.
    Derivatives are added to the query of the metrics. Returns None for metrics without an influence
    function.
    """
    if column.metric.file.interval.no_interval:
        return None
    base_cte = query.args["from_"].this.name
    if rows_are_values and isinstance(
        _select_interval_expression(relations, query, column), exp.Avg
    ):
        return InfluenceRows(base_cte, (), "values"), deviation_from_mean(column)
    if rows_are_values:
        influence = _delta_method_influence(relations, query, column, None)
        return (
            None
            if influence is None
            else (InfluenceRows(base_cte, (), "values"), _value_influence(influence, column))
        )
    if (
        column.metric.file.interval.influence
        and (relation := _influence_relation(relations, column.metric)) is not None
    ):
        return _declared_influence(relations, column.metric, relation)
    unit_cte = _find_unit_cte(relations, column.metric, base_cte)
    if unit_cte is None:
        return None
    influence = _delta_method_influence(
        relations,
        query,
        column,
        None if unit_cte == base_cte else relations.ctes[base_cte].query,
        only_entering,
    )
    return (
        None
        if influence is None
        else (
            InfluenceRows(unit_cte, tuple(relations.unit_columns(unit_cte)), "contributions"),
            influence,
        )
    )


def deviation_from_mean(column: MetricColumn) -> exp.Expr:
    """Return the deviation from the mean, the influence of a value on it."""
    return exp.column(column.alias, table="r") - exp.column(column.alias, table="m")


def influence_name(column: MetricColumn) -> str:
    """Return the name of the column of a unit's influence on a metric."""
    return f"{column.alias}_influence"


def influences_by_rows(
    relations: RelationCtes,
    cte: str,
    columns: Sequence[MetricColumn],
    rows_are_values: bool,
    entering: Collection[str] = (),
) -> dict[InfluenceRows, list[tuple[MetricColumn, exp.Expr]]]:
    """Group the metrics of a CTE by the rows that carry their influence.

    Metrics without an influence function are omitted. ``entering`` are the aliases of metrics whose
    influence is NULL for rows that contribute to none of their sums.
    """
    influences: dict[InfluenceRows, list[tuple[MetricColumn, exp.Expr]]] = {}
    query: Any = relations.ctes[cte].query
    for column in columns:
        if (
            match := find_influence(
                relations, query, column, rows_are_values, only_entering=column.alias in entering
            )
        ) is not None:
            influences.setdefault(match[0], []).append((column, match[1]))
    return influences


def _influence_relation(relations: RelationCtes, metric: ResolvedMetric) -> SqlFile | None:
    """Return the relation that declares the influence on a metric, None if there is none under its
    settings.
    """
    name = metric.file.interval.influence.rpartition(" ")[2]
    try:
        return relations.library.find_relation(name, metric.settings)
    except MetricError:
        return None


def _declared_influence(
    relations: RelationCtes, metric: ResolvedMetric, relation: SqlFile
) -> tuple[InfluenceRows, exp.Expr] | None:
    """Parse a declared influence function: ``-- Interval: influence 2 * auc_influence FROM
    prediction_influence``.

    It only applies to unordered ties and default functions, unless the relation reads these itself.
    """
    changed_settings = [
        choice.name
        for choice in metric.file.declared_settings.values()
        if choice.name not in relation.declared_settings
        and metric.settings.get(choice.name) != choice.default
    ]
    if changed_settings or metric.settings.get("ties") is not None:
        return None
    declaration: Any = sqlglot.parse_one(f"SELECT {metric.file.interval.influence}", read="duckdb")
    influence = bind_parameters(
        relations.library, declaration.selects[0], metric.settings, metric.file.params
    )
    cte = relations.add_relation(declaration.args["from_"].this.name, metric.settings)
    units = tuple(relations.unit_columns(cte))
    is_one_unit = any(
        item.alias_or_name == "num_units" and isinstance(item.unalias(), exp.Literal)
        for item in relations.ctes[cte].query.selects
    )
    factor = exp.paren(influence) if isinstance(influence, exp.Binary) else influence
    return InfluenceRows(
        cte, units, "contributions" if units or is_one_unit else "equal_units"
    ), _over_rows(exp.Mul(this=exp.column("influence_weight"), expression=factor))


def _find_unit_cte(relations: RelationCtes, metric: ResolvedMetric, cte: str) -> str | None:
    """Return the CTE whose rows make up units.

    It is the metric's own, or the input that it aggregates.

    Returns None if the units are unknown.
    """
    name = metric.file.source_relation
    inputs = set(relations.inputs.values())
    if name in relations.library.roles:
        return cte
    unit_kind = relations.library.find_relation(name, metric.settings).annotations.get(
        "Sampling unit"
    )
    if unit_kind in UNIT_ANNOTATIONS:
        missing = (
            unit_kind == "predictions"
            and any(map(relations.unit_columns, inputs))
            and not relations.unit_columns(cte)
        )
        return None if missing else cte
    query = relations.ctes[cte].query
    source_cte: str = query.args["from_"].this.name if _is_plain_aggregation(query) else ""
    return source_cte if source_cte in inputs else None


def _is_plain_aggregation(query: exp.Query) -> bool:
    """Return True if a CTE only aggregates another one, with one row per group."""
    if not isinstance(query, exp.Select) or any(
        query.args.get(clause) for clause in ("joins", "where", "having", "distinct")
    ):
        return False
    group = query.args.get("group", exp.Group()).expressions
    expressions = [select_item.unalias() for select_item in query.selects]
    return all(
        expression in group or expression.find(exp.AggFunc) or not expression.find(exp.Column)
        for expression in expressions
    )


def _delta_method_influence(
    relations: RelationCtes,
    query: exp.Select,
    column: MetricColumn,
    aggregation: exp.Query | None,
    only_entering: bool = False,
) -> exp.Expr | None:
    """Derive the influence function by the delta method.

    The derivatives are selected next to the metric.

    ``aggregation`` is the CTE that aggregates the rows, if any.
    """
    expression = _select_interval_expression(relations, query, column)
    derivatives = partial_derivatives(expression)
    if derivatives is None:
        return None
    # Rows that only add to what a COALESCE takes instead of NULL say nothing of the metric.
    own_aggregates = partial_derivatives(
        expression.transform(lambda node: node.this if isinstance(node, exp.Coalesce) else node)
    )
    totals = [
        total
        for aggregate in derivatives
        if (
            total := (
                aggregate if aggregation is None else find_underlying_sum(aggregate, aggregation)
            )
        )
        is not None
    ]
    if len(totals) < len(derivatives):
        return None
    terms: list[exp.Expr] = []
    all_enter, enters = False, list[exp.Expr]()
    sources = _name_aggregates(derivatives)
    names = _name_derivatives(column, derivatives)
    for name, source, total, (aggregate, derivative) in zip(
        names, sources, totals, derivatives.items(), strict=True
    ):
        described = {"rows": "its number of rows"}.get(
            source, f"its {source.replace('_', ' ')}" if "sum" in source else f"its sum of {source}"
        )
        query.select(
            comment_column(
                cast_double(derivative), name, f"derivative of the metric by {described}"
            ),
            copy=False,
        )
        contribution = contribution_of_rows(total)
        if aggregate in (own_aggregates or derivatives):
            all_enter |= contribution == sql_literal(1) or (
                isinstance(total.this, exp.Column) and total.this.name == "weight"
            )
            enters.append(exp.NEQ(this=contribution.copy(), expression=sql_literal(0)))
        factor = exp.column(name, table="m")
        parenthesized = (
            exp.paren(contribution) if isinstance(contribution, exp.Binary) else contribution
        )
        terms.append(
            factor
            if contribution == sql_literal(1)
            else exp.Mul(this=factor, expression=parenthesized)
        )
    influence = add_terms(terms)
    if all_enter or not only_entering:
        return influence
    return case_when(exp.or_(*enters, wrap=False), influence)


def select_cell_squares(
    relations: RelationCtes, query: exp.Select, column: MetricColumn
) -> exp.Expr:
    """Return the squared effects of rows of rare cells on a metric, over ``m``, whose query gets
    the weights of such rows.

    The query has the derivatives of the metric.
    """
    sums: dict[str, exp.Expr] = {
        name: exp.Sum(this=exp.column(name))
        for name in column.metric.file.interval.cells.split(", ")
    }
    names = named_derivatives(relations, query, column)
    total = add_terms(sums.values())
    squares = []
    for cell, cell_sum in sums.items():
        weight = f"rare_{cell}"
        if weight not in query.named_selects:
            mean_weight = relations.apply_function(
                "rare_row", {}, cell_sum, exp.paren(total), exp.Sum(this=exp.column(ROW_COUNT))
            )
            query.select(
                comment_column(
                    mean_weight, weight, f"weight of one more row of {cell} if few are, else 0"
                ),
                copy=False,
            )
        derivative, row_weight = (exp.column(name, table="m") for name in (names[cell_sum], weight))
        squares.append(relations.apply_function("cell_square", {}, derivative, row_weight))
    return add_terms(squares)


def named_derivatives(
    relations: RelationCtes, query: exp.Select, column: MetricColumn
) -> dict[exp.Expr, str]:
    """Return the columns of the derivatives of a metric by aggregate."""
    derivatives: Any = partial_derivatives(_select_interval_expression(relations, query, column))
    return dict(zip(derivatives, _name_derivatives(column, derivatives), strict=True))


def cell_squares_name(column: MetricColumn) -> str:
    """Return the name of the column with the squared effects of rows of rare cells on a metric."""
    return f"{column.alias}_{CELL_SQUARES}"


def _name_derivatives(column: MetricColumn, derivatives: Iterable[exp.Expr]) -> list[str]:
    """Return the name of the column of each derivative."""
    sources = enumerate(_name_aggregates(derivatives), start=1)
    return [
        f"{column.alias}_by_"
        f"{source if len(column.alias) + len(source) < MAX_DERIVATIVE_NAME else number}"
        for number, source in sources
    ]


def _name_aggregates(aggregates: Iterable[exp.Expr]) -> list[str]:
    """Return a name per aggregate: its column, ``rows`` for a count or a sum of weights, else
    ``sum``, numbered if several are equal.
    """
    columns = [
        aggregate.this.name if isinstance(aggregate, exp.Sum) else "weight"
        for aggregate in aggregates
    ]
    kinds = ["rows" if column == "weight" else column or "sum" for column in columns]
    return [
        kind if kinds.count(kind) == 1 else f"{kind}_{kinds[:index].count(kind) + 1}"
        for index, kind in enumerate(kinds)
    ]


def find_underlying_sum(total: exp.Expr, aggregation: exp.Query) -> Any:
    """Return the underlying SUM if a metric sums a one-row-per-group CTE."""
    if not isinstance(total, exp.Sum) or not isinstance(total.this, exp.Column):
        return None
    expression: exp.Expr = next(
        select_item
        for select_item in aggregation.selects
        if select_item.alias_or_name == total.this.name
    ).unalias()
    return expression if isinstance(expression, exp.Sum) else None


def contribution_of_rows(total: exp.Expr) -> exp.Expr:
    """Return the contribution of a row to an aggregate, over ``r``."""
    return _over_rows(row_contribution(total))


def _over_rows(node: exp.Expr) -> exp.Expr:
    node = node.copy()
    for column in node.find_all(exp.Column):
        column.set("table", exp.to_identifier("r"))
    return node


def _value_influence(influence: exp.Expr, column: MetricColumn) -> exp.Expr:
    """Return the influence of a query value.

    NULL for missing values and values of weight 0.
    """
    is_unit: list[exp.Expr] = []
    if column.is_nullable:
        is_unit.append(is_not_null(exp.column(column.alias, table="r")))
    if any(reference.name == "weight" for reference in find_nodes(influence, exp.Column)):
        is_unit.append(exp.column("weight", table="r") > 0)
    return case_when(exp.and_(*is_unit, wrap=False), influence) if is_unit else influence


def _select_interval_expression(
    relations: RelationCtes, query: exp.Select, column: MetricColumn
) -> exp.Expr:
    """Return the expression of a metric, or the variant that a function declares for intervals."""
    metric = column.metric
    interval_functions = (
        {
            slot: function_file.interval.function
            for slot, function_file in _slot_functions(relations, metric)
            if function_file.interval.function
        }
        if column.grain == "group"
        else {}
    )
    if interval_functions:
        return relations.metric_expression(
            replace(metric, settings={**metric.settings, **interval_functions})
        )
    value: exp.Expr = next(
        select_item for select_item in query.selects if select_item.alias_or_name == column.alias
    ).unalias()
    return value.this if isinstance(value, exp.Cast) else value


def _slot_functions(
    relations: RelationCtes, metric: ResolvedMetric
) -> Iterator[tuple[str, SqlFile]]:
    """Yield the function slots of a metric with the files of their functions."""
    for choice in metric.file.declared_settings.values():
        chosen = metric.settings.get(choice.name, choice.default)
        if choice.is_slot and isinstance(chosen, str):
            yield choice.name, relations.library.find_function(choice.name, chosen)
