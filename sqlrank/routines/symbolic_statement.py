"""Compile metrics over inputs that are only names, with symbolic parameters, to the queries of
functions; find checks of their rows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.call.request import Request
from sqlrank.call.resolve import ResolvedRequest, find_read_policies, resolve_request
from sqlrank.call.sources import collect_sources
from sqlrank.compiler.intervals.analytic_intervals import INTERVAL_SUFFIXES
from sqlrank.compiler.select_builders import (
    bind_parameters,
    cast_double,
    null_if_not_finite,
    symbolic_parameter,
)
from sqlrank.engines.database import NamesOnlyDatabase
from sqlrank.errors import MetricError
from sqlrank.inputs.row_rules import RowRules, row_rules
from sqlrank.output.table_writes import without_order
from sqlrank.registry import metric_resolver
from sqlrank.registry.loader import registry_for
from sqlrank.registry.metric import Metric, SymbolicNumber, freeze_value, to_sql_name
from sqlrank.registry.roles import INPUTS_BY_KEYWORD
from sqlrank.registry.settings_checks import invalid_policies, rename_queries_policy
from sqlrank.registry.sql_file import NO_CUTOFF, Parameter, SqlFile
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.renderer import rewrite_for_dialect
from sqlrank.run.prepare import prepare_statement
from sqlrank.sql_ast import find_nodes, replace_columns, sql_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from sqlrank.compiler.layout import OutputColumn
    from sqlrank.compiler.statement import CompiledStatement
    from sqlrank.inputs.bound_input import BoundInputs
    from sqlrank.inputs.row_checks import CheckMode
    from sqlrank.registry.registry import Registry
    from sqlrank.registry.resolved_metric import ResolvedMetric


@dataclass(frozen=True)
class InputChecks:
    """The checks of an input's rows.

    Attributes:
        numbers: Columns that are read as numbers.
        keys: Columns that are read as they are.
        rules: Rules of rows.
        drops_nulls: Rows with NULL are left out by a policy, and are not wrong.
        unique: Columns of which no two rows of a group have the same values; empty if duplicates
            are allowed.
        duplicates: Message on such rows.
    """

    numbers: tuple[str, ...]
    keys: tuple[str, ...]
    rules: RowRules
    drops_nulls: bool
    unique: tuple[str, ...]
    duplicates: str

    def restrict(self, columns: Collection[str]) -> InputChecks:
        """Return the checks of rows of which only these columns are read."""
        conditions = {
            name: condition
            for name, condition in self.rules.conditions.items()
            if {column.name for column in find_nodes(condition, exp.Column)} <= {*columns}
        }
        return replace(self, rules=replace(self.rules, conditions=conditions))


def find_input_checks(request: ResolvedRequest, inputs: BoundInputs) -> dict[str, InputChecks]:
    """Find the checks of the inputs of a statement, by role."""
    return {
        role: _find_checks(role, columns, request, inputs)
        for role, columns in inputs.needed_columns.items()
        if role in inputs.by_role
    }


def _find_checks(
    role: str, columns: Sequence[str], request: ResolvedRequest, inputs: BoundInputs
) -> InputChecks:
    bound_input = inputs.by_role[role]
    role_type, specs = bound_input.role, bound_input.role.columns
    unique = tuple(
        name
        for name in role_type.unique
        if name in columns or name not in role_type.optional_unique_columns
    )
    numbers = tuple(name for name in columns if name in specs and specs[name].is_number)
    return InputChecks(
        numbers,
        tuple(name for name in columns if name not in numbers),
        row_rules(role_type, bound_input.checks, columns, request.required_row_checks),
        request.shared_policies.get("nulls", request.call.policies.get("nulls")) == "drop",
        () if request.merges_rows(role) or not {*unique} <= {*columns} else unique,
        role_type.duplicate_message
        or f"({', '.join(unique)}) occurs more than once. Keep one row of each",
    )


GROUP_COLUMN, SOURCE_GROUP_COLUMN = "group_key", "sqlrank_group"
"""Column of the group in the result of a table function, and in its evaluated input."""

QUERIES = "queries"
"""Input with the weights of queries."""

DEFAULT_CUTOFF = 10
"""Default of a cut-off that a metric needs."""


@dataclass(frozen=True)
class InstallationOptions:
    """Options that hold for all functions of an installation.

    Attributes:
        dialect: SQL dialect.
        compat: Compatibility mode.
        sql_dir: The user's folder of SQL files.
        policies: Policies that the numbers follow.
        weighted: Rows of predictions and queries have weights, those of queries in a table of their
            own.
        check: ``"off"`` for functions that do not check rows.
    """

    dialect: str
    compat: str | None = None
    sql_dir: str | Path | None = None
    policies: Mapping[str, Any] = field(default_factory=dict)
    weighted: bool = False
    check: CheckMode = "auto"

    @property
    def library(self) -> Registry:
        """The registry of SQL files."""
        return registry_for(self.sql_dir)

    def build_request(self, metrics: Any, roles: Iterable[str], **arguments: Any) -> Request:
        """Return the request of metrics over tables that are called as their roles, with the
        policies that the metrics read.
        """
        tables = {role: source_table(role) for role in roles}
        keywords = {role: tables.pop(role) for role in INPUTS_BY_KEYWORD if role in tables}
        weights = {"predictions": "weight", "queries": "queries.weight"} if self.weighted else {}
        columns = {
            column: "weight" for role, column in weights.items() if role in {*keywords, *tables}
        }
        request = Request(
            metrics,
            collect_sources(**keywords, inputs=tables),
            compat=self.compat,
            sql_dir=self.sql_dir,
            policies=self.policies,
            columns=columns or None,
            **arguments,
        )
        return replace(request, policies=find_read_policies(request)) if self.policies else request


def installation_options(
    dialect: str,
    compat: str | None,
    sql_dir: str | Path | None,
    policies: Mapping[str, Any],
    weighted: bool = False,
    check: CheckMode = "auto",
) -> InstallationOptions:
    """Return the options of an installation with validated policies, those that are None left out.

    Raises:
        MetricError: A policy does not exist, or has another value than it can have.
    """
    named = rename_queries_policy(policies, registry_for(sql_dir))
    frozen = {name: freeze_value(value, name) for name, value in named.items() if value is not None}
    options = InstallationOptions(dialect, compat, sql_dir, frozen, weighted, check)
    if problems := invalid_policies(frozen, options.library):
        raise MetricError(*problems)
    return options


@dataclass(frozen=True)
class RoutineParameter:
    """A parameter of a metric as one of a function.

    Attributes:
        name: Name.
        default: Default value, None if it has to be passed.
        about: Its meaning.
        declared: Its declaration with its range, if it is a number.
    """

    name: str
    default: float | None
    about: str
    declared: Parameter | None = None

    @property
    def default_text(self) -> str | None:
        """The default with all its digits."""
        return None if self.default is None else f"{self.default:.17g}"


def sort_parameters(parameters: Iterable[RoutineParameter]) -> list[RoutineParameter]:
    """Return parameters, those without a default first."""
    return sorted(parameters, key=lambda parameter: parameter.default is not None)


@dataclass(frozen=True)
class SymbolicMetric:
    """A metric whose parameters are free unless its text fixes them.

    Attributes:
        metric: The metric, with an example of a cut-off that it needs.
        file: Its SQL file.
        column: Its column in the result.
        parameters: Its free parameters.
    """

    metric: Metric
    file: SqlFile
    column: str
    parameters: Mapping[str, Parameter]

    @classmethod
    def from_file(cls, file: SqlFile) -> SymbolicMetric:
        """Return the metric of a file with all its parameters free."""
        metric = cls._from_metric(Metric(file.display_name), file)
        return metric.with_free_cutoff() if file.full_name.endswith("@k") else metric

    @classmethod
    def parse(cls, text: str, library: Registry) -> SymbolicMetric:
        """Return the metric of a text such as ``P(rel=2)@5``, with the parameters free that it does
        not fix; ``@k`` is a cut-off of 10 by default.
        """
        is_free = text.endswith("@k")
        metric = metric_resolver.parse_canonical(text.removesuffix("@k"), library)
        symbolic = cls._from_metric(
            metric, library.file_for(metric @ DEFAULT_CUTOFF if is_free else metric)
        )
        return symbolic.with_free_cutoff() if is_free else symbolic

    @classmethod
    def _from_metric(cls, metric: Metric, file: SqlFile) -> SymbolicMetric:
        cutoff = file.cutoff_parameter
        fixed = {
            *dict(metric.params),
            *([cutoff.name] if cutoff is not None and metric.cutoff is not None else []),
        }
        free = {
            name: param
            for name, param in file.params.items()
            if name not in fixed and param.type in {"integer", "number"}
        }
        column = (
            metric.sql_column(file.value_name)
            if file.kind == "metrics"
            else to_sql_name(file.display_name)
        )
        if cutoff is not None and cutoff.name in free and cutoff.default is None:
            metric @= _choose_example(cutoff)
        return cls(metric, file, column, free)

    def with_free_cutoff(self) -> SymbolicMetric:
        """Return a copy of which the cut-off is a parameter with a default of its own."""
        cutoff = self.file.cutoff_parameter
        if cutoff is None:
            raise MetricError(f"{self.metric} takes no cut-off")
        metric = (
            self.metric if self.metric.cutoff is not None else self.metric @ _choose_example(cutoff)
        )
        return replace(
            self,
            metric=metric,
            column=f"{self.column}_at_k",
            parameters={cutoff.name: cutoff, **self.parameters},
        )

    def restrict_to_cutoff(self) -> SymbolicMetric:
        """Return a copy of which no other parameter than a cut-off ``@k`` is free."""
        cutoff = self.file.cutoff_parameter
        is_free = (
            cutoff is not None and cutoff.name in self.parameters and self.metric.cutoff is not None
        )
        return replace(
            self, parameters={cutoff.name: cutoff} if cutoff is not None and is_free else {}
        )


def _choose_example(param: Parameter) -> float:
    """Return a value of a parameter without a default that is in its range."""
    return DEFAULT_CUTOFF if param.type == "integer" else (param.low + param.high) / 2


def source_table(role: str) -> str:
    """Return the name of the table of a role in a symbolic statement."""
    return f"{role}_source"


@dataclass(frozen=True)
class SymbolicStatement:
    """The compiled statement of metrics whose sources and parameters are symbolic.

    Attributes:
        statement: The compiled statement.
        request: The resolved request.
        columns: Names of the result columns.
        read_columns: Columns that are read of each input, by role.
        group_roles: Inputs that have the column of the group.
        parameters: Parameters of the metrics.
        checks: Checks of the inputs' rows, by role.
    """

    statement: CompiledStatement
    request: ResolvedRequest
    columns: Sequence[str]
    read_columns: Mapping[str, tuple[str, ...]]
    group_roles: tuple[str, ...]
    parameters: tuple[RoutineParameter, ...]
    checks: Mapping[str, InputChecks]

    def find_group_column(self, role: str) -> str | None:
        """Return the column of the group if an input has it."""
        return SOURCE_GROUP_COLUMN if role in self.group_roles else None


def find_roles(metric: SymbolicMetric, options: InstallationOptions) -> list[str]:
    """Find the inputs that a metric reads, if no more are passed than it needs."""
    library = options.library
    roles = {"run"}
    while True:
        request = options.build_request([metric.metric], roles)
        (resolved,) = metric_resolver.resolve_metrics(
            [metric.metric], library, options.compat, request.policies, roles, has_inputs=False
        )
        read = {
            *resolved.dependencies.roles,
            *([] if resolved.input_role == "run" else [resolved.input_role]),
        }
        read |= {"run"} if resolved.input_role == "run" else set()
        if read == roles:
            return [role for role in library.roles if role in roles]
        roles = read


def compile_symbolic(
    metrics: Sequence[SymbolicMetric],
    roles: Sequence[str],
    options: InstallationOptions,
    per_query: bool = False,
    confidence: float | None = None,
    is_grouped: bool = True,
) -> SymbolicStatement:
    """Compile metrics over symbolic inputs, by the column of the group unless not ``is_grouped``,
    with intervals of a confidence if it is given.

    Raises:
        MetricError: The metrics, policies or the dialect do not go together.
        InputError: An input is missing.
    """
    texts = [str(metric.metric) for metric in metrics]
    if options.weighted and "run" in roles:
        roles = [*roles, *({QUERIES} - {*roles})]
    by = [SOURCE_GROUP_COLUMN] if is_grouped else []
    request = resolve_request(
        options.build_request(texts, roles, by=by, per_query=per_query, confidence=confidence)
    )
    symbolic = [
        with_symbolic_parameters(resolved, metric)
        for resolved, metric in zip(request.metrics, metrics, strict=True)
    ]
    request = replace(request, metrics=symbolic)
    prepared = prepare_statement(request, NamesOnlyDatabase(options.dialect))
    names = {str(metric.metric): metric.column for metric in metrics}
    columns = [_column_name(output, names) for output in prepared.statement.outputs]
    pairs = zip(metrics, request.metrics, strict=True)
    parameters = {
        parameter.name: parameter
        for metric, resolved in pairs
        for parameter in free_parameters(metric, resolved)
    }
    group_roles = {role for group in prepared.inputs.group_columns for role in group.columns}
    return SymbolicStatement(
        prepared.statement,
        request,
        columns,
        {
            role: _read_columns(prepared.inputs.needed_columns.get(role, ()), role, request)
            for role in roles
        },
        tuple(role for role in roles if role in group_roles),
        tuple(parameters.values()),
        {} if options.check == "off" else find_input_checks(request, prepared.inputs),
    )


def _column_name(output: OutputColumn, names: Mapping[str, str]) -> str:
    """Return the name of a column of a function, from the names of its metrics."""
    if output.kind == "by":
        return GROUP_COLUMN
    if output.kind == "metric" and output.metric is not None:
        return names[str(output.metric.metric)]
    return output.alias if output.kind in INTERVAL_SUFFIXES else output.name


def _read_columns(needed: Sequence[str], role: str, request: ResolvedRequest) -> tuple[str, ...]:
    """Return the columns that a statement reads of an input, with those of its role if they are not
    said elsewhere.
    """
    columns = request.roles[role].columns
    return tuple(needed) or tuple(
        name for name, column in columns.items() if not column.optional and column.default is None
    )


def with_symbolic_parameters(resolved: ResolvedMetric, metric: SymbolicMetric) -> ResolvedMetric:
    """Return a resolved metric whose free parameters stay symbolic."""
    numbers = {name: resolved.settings[name] for name in metric.parameters}
    if not all(isinstance(number, (int, float)) for number in numbers.values()):
        raise MetricError(f"{metric.metric} has lists of numbers as parameters")
    symbolic = {name: SymbolicNumber(name, float(str(number))) for name, number in numbers.items()}
    return replace(resolved, settings={**resolved.settings, **symbolic})


def free_parameters(metric: SymbolicMetric, resolved: ResolvedMetric) -> list[RoutineParameter]:
    """Return the free parameters of a metric, with their defaults."""
    return [
        RoutineParameter(name, _find_default(name, param, resolved), param.about, param)
        for name, param in metric.parameters.items()
    ]


def _find_default(name: str, param: Parameter, resolved: ResolvedMetric) -> float | None:
    if param.default is None and param.type != "integer":
        return None
    value = float(str(resolved.settings[name]))
    return NO_CUTOFF if value == NO_CUTOFF else value


def is_aggregate(
    metric: SymbolicMetric, roles: Sequence[str], options: InstallationOptions
) -> bool:
    """Return True if a metric reads columns of one input itself, at least one of them."""
    if (
        metric.file.kind != "metrics"
        or metric.file.grain != "group"
        or list(roles) != [metric.file.source_relation]
    ):
        return False
    names = {column.name for column in find_nodes(metric.file.tree.selects[-1], exp.Column)}
    return bool(names) and names <= options.library.roles[roles[0]].columns.keys()


def build_aggregate(
    metric: SymbolicMetric, role: str, options: InstallationOptions
) -> tuple[exp.Expr, list[RoutineParameter], ResolvedRequest]:
    """Return the expression of a metric over columns, which are columns of its role, with symbolic
    parameters for parameters, and all of these.
    """
    request = resolve_request(options.build_request([str(metric.metric)], [role]))
    resolved = with_symbolic_parameters(request.metrics[0], metric)
    request = replace(request, metrics=[resolved])
    library, file = options.library, metric.file
    value = bind_parameters(
        library, file.tree.selects[-1].unalias(), resolved.settings, file.params
    )
    specs = options.library.roles[role].columns
    read = {column.name for column in find_nodes(value, exp.Column)}
    columns = [
        RoutineParameter(name, spec.default, spec.description)
        for name, spec in specs.items()
        if name in read
    ]
    value = with_symbolic_columns(value, [name for name in read if specs[name].is_number])
    if library.may_be_infinite(file, resolved.dependencies.files):
        value = null_if_not_finite(value)
    if file.is_always_defined:
        value = exp.Coalesce(this=value, expressions=[sql_literal(0)])
    return cast_double(value), [*columns, *free_parameters(metric, resolved)], request


def with_symbolic_columns(value: exp.Expr, numbers: Collection[str]) -> exp.Expr:
    """Return an expression with symbolic parameters in the place of columns, of which some are
    numbers.
    """
    return replace_columns(
        value,
        lambda name: (
            cast_double(symbolic_parameter(name)) if name in numbers else symbolic_parameter(name)
        ),
    )


GROUP_PARAMETER = "by"
"""Parameter of a table function: an expression over a row of the evaluated input, whose values are
groups.
"""

CTE_PREFIX = "sqlrank_"
"""Prefix of the steps of a table function, so that none has the name of a table that is passed to
it.
"""


def build_table_query(
    symbolic: SymbolicStatement,
    dialect: str,
    read_source: Callable[[str], exp.Select],
    parameter: Callable[[str], exp.Expr],
    taken_names: Collection[str] = (),
) -> exp.Select:
    """Return the query of a table function.

    Args:
        symbolic: The compiled statement.
        dialect: SQL dialect.
        read_source: Returns the query that reads the table that is passed for a role, with the
            column of the group if the role has it.
        parameter: Returns the reference to a parameter.
        taken_names: Names that mean a parameter wherever a column is read.
    """
    tree: Any = rewrite_for_dialect(
        without_order(symbolic.statement), dialect, symbolic.statement.header.title
    )
    outputs = zip(symbolic.statement.outputs, symbolic.columns, strict=True)
    renamed = {output.alias: name for output, name in outputs if output.kind == "metric"}
    _rename_columns(tree, renamed | {name: f"{name}_" for name in taken_names})
    tree.set(
        "expressions",
        [
            item.unalias().as_(name)
            for item, name in zip(tree.selects, symbolic.columns, strict=True)
        ],
    )
    tables = {source_table(role): role for role in symbolic.read_columns}
    _prefix_ctes(tree, tables.keys())
    without_source = re.compile(rf" \((?:{'|'.join(map(re.escape, tables))})\)$")
    for select in find_nodes(tree, exp.Select):  # which table is read is up to the call
        select.comments = [
            without_source.sub("", comment) for comment in select.comments or ()
        ] or None
    for node in find_nodes(tree, exp.Parameter):
        node.replace(parameter(node.name))
    is_repeated = False if get_dialect(dialect).computes_ctes_once else None
    sources = [
        exp.CTE(
            this=read_source(role),
            alias=exp.TableAlias(this=exp.to_identifier(CTE_PREFIX + table)),
            materialized=is_repeated,
        )
        for table, role in tables.items()
    ]
    with_clause = tree.args["with_"]
    with_clause.set("expressions", [*sources, *with_clause.expressions])
    return tree  # type: ignore[no-any-return]


def _rename_columns(tree: exp.Select, renamed: Mapping[str, str]) -> None:
    """Rename columns in place: those of metrics as in the result, and those that have the name of a
    parameter, which would be read instead.
    """
    aliases = [node.args["alias"] for node in find_nodes(tree, exp.Alias)]
    for identifier in [*(column.this for column in find_nodes(tree, exp.Column)), *aliases]:
        if isinstance(identifier, exp.Identifier) and identifier.name in renamed:
            identifier.set("this", renamed[identifier.name])


def _prefix_ctes(tree: exp.Select, tables: Collection[str]) -> None:
    """Prefix the names of steps, and of the tables that they read, in place."""
    names = {*tables, *(cte.alias for cte in find_nodes(tree, exp.CTE))}
    tables_read = [table.this for table in find_nodes(tree, exp.Table) if not table.db]
    aliases = [alias.this for alias in find_nodes(tree, exp.TableAlias)]
    qualifiers = [
        column.args["table"] for column in find_nodes(tree, exp.Column) if column.args.get("table")
    ]
    for identifier in [*tables_read, *aliases, *qualifiers]:
        if isinstance(identifier, exp.Identifier) and identifier.name in names:
            identifier.set("this", CTE_PREFIX + identifier.name)
