"""Collect the functions that a database gets for metrics, inputs and lists of ids, and the reasons for those that it cannot have."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sqlrank.errors import InputError, MetricError, SqlrankError
from sqlrank.registry.settings_checks import LIST_SLOTS
from sqlrank.registry.sql_folder import read_toml, sql_root
from sqlrank.rendering.dialects import get_dialect
from sqlrank.routines.aggregate_functions import build_aggregate, is_aggregate
from sqlrank.routines.check_steps import CHECKS_PARAMETER, refuse_ranges
from sqlrank.routines.duckdb_macros import create_scalar_macro, create_table_macro
from sqlrank.routines.list_function_statements import create_aggregate_routine, create_list_routine, supports_aggregates, supports_lists
from sqlrank.routines.list_functions import HELPERS, build_list_function, load_list_functions
from sqlrank.routines.routine import RoutineFacts, document_routine
from sqlrank.routines.symbolic_statement import DEFAULT_CUTOFF, RoutineParameter, SymbolicMetric, compile_symbolic, find_roles
from sqlrank.routines.table_function_statements import create_table_routine, list_group_parameters, takes_checks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlglot import exp

    from sqlrank.registry.resolved_metric import ResolvedMetric
    from sqlrank.registry.sql_file import SqlFile
    from sqlrank.resolve import ResolvedRequest
    from sqlrank.routines.routine import Routine, RoutineKind
    from sqlrank.routines.symbolic_statement import InstallationOptions, SymbolicStatement

LIST_PARAMETERS = {
    "retrieved": "list of the ids of retrieved documents, best first, NULL as an empty list",
    "relevant": "list of the ids of relevant documents, without which the value is NULL",
}
"""Lists that functions of lists take, with their descriptions; their files declare the other parameters."""


class Installation:
    """The functions of an installation, added one by one.

    Attributes:
        functions: The functions by kind and name.
        omitted: Reasons why metrics are no functions, by name.
        read_policies: Policies that any of the metrics read.
    """

    def __init__(self, options: InstallationOptions, schema: str) -> None:
        self.options = options
        self.schema = schema
        self.functions: dict[tuple[RoutineKind, str], Routine] = {}
        self.omitted: dict[str, str] = {}
        self.read_policies: set[str] = set()

    def add_lists_and_inputs(self) -> None:
        """Add the functions of lists and of inputs."""
        for name in load_list_functions():
            if name not in HELPERS and (self._has_table_macros or supports_lists(self.options.dialect)):
                self._add_list_function(name)
        for name, entry in read_toml(sql_root() / "table_functions.toml").items():
            self._add_or_omit(name, partial(self._add_input_function, name, **entry))

    def add_all(self) -> None:
        """Add the functions of lists and of inputs, and on DuckDB those of all metrics."""
        self.add_lists_and_inputs()
        if not self._has_table_macros:
            self.omitted["each metric"] = f"name those that you need, such as sqlrank functions nDCG AUC --dialect {self.options.dialect}"
            return
        library = self.options.library
        for file in [*library.metrics.values(), *library.curves.values()]:
            if file.measures_column:
                self.omitted[file.full_name] = "it reads a column of yours, for which SQL has an aggregate"
            else:
                self._add_or_omit(file.full_name, partial(self._add_file, file))

    def add_metrics(self, metrics: Sequence[Any]) -> None:
        """Add the functions of metrics.

        Raises:
            MetricError: One of them does not exist, or is no function.
        """
        for text in metrics:
            symbolic = SymbolicMetric.parse(str(text), self.options.library)
            if symbolic.file.measures_column:
                raise MetricError(f"{text} reads a column of yours, for which SQL has an aggregate. Leave it out")
            self._add_metric(symbolic, symbolic.column)

    @property
    def _has_table_macros(self) -> bool:
        return get_dialect(self.options.dialect).supports_table_macros

    def _add_file(self, file: SqlFile) -> None:
        """Add the function of a file; a curve with the name of a metric gets the suffix ``_curve``."""
        metric = SymbolicMetric.from_file(file)
        self._add_metric(metric, f"{metric.column}_curve" if ("table", metric.column) in self.functions else metric.column)

    def _add_or_omit(self, name: str, add: Callable[[], None]) -> None:
        try:
            add()
        except (MetricError, InputError) as error:
            self.omitted[name] = _one_line(error)

    def _add_input_function(
        self, name: str, description: str, inputs: Sequence[str], metrics: Sequence[str], per_query: bool = False
    ) -> None:
        """Add the function of several metrics of an input."""
        symbolic_metrics = [SymbolicMetric.parse(text, self.options.library).restrict_to_cutoff() for text in metrics]
        statement = compile_symbolic(symbolic_metrics, inputs, self.options, per_query)
        ungrouped = None if per_query else self._compile_ungrouped(symbolic_metrics, inputs)
        self._add_table_function(name, statement, description, ungrouped)

    def _add_metric(self, metric: SymbolicMetric, name: str) -> None:
        """Add the table function of a metric, and its aggregate if it is one of columns."""
        roles = find_roles(metric, self.options)
        statement = compile_symbolic([metric], roles, self.options)
        self._add_table_function(name, statement, metric.file.description, self._compile_ungrouped([metric], roles))
        if is_aggregate(metric, roles, self.options):
            body, parameters, request = build_aggregate(metric, roles[0], self.options)
            body = self._check_ranges(body, parameters)
            comment = document_routine(metric.file.description, parameters, *self._describe_settings(request))
            facts = RoutineFacts(name, "aggregate", tuple(roles), (str(metric.metric),), comment)
            if self._has_table_macros:
                self._add_routine(create_scalar_macro(self.schema, facts, body, parameters))
            elif supports_aggregates(self.options.dialect):
                self._add_routine(create_aggregate_routine(self.options.dialect, self.schema, facts, body, parameters))

    def _compile_ungrouped(self, metrics: Sequence[SymbolicMetric], roles: Sequence[str]) -> SymbolicStatement | None:
        """Compile metrics of predictions without a group for a macro: DuckDB partitions and groups rows also by a constant, which costs up to a half."""
        is_curve = any(metric.file.kind == "curves" for metric in metrics)
        if not self._has_table_macros or list(roles) != ["predictions"] or is_curve:
            return None
        statement = compile_symbolic(metrics, roles, self.options, is_grouped=False)
        return None if "query_id" in statement.read_columns["predictions"] else statement  # rows are partitioned by query in any case

    def _add_table_function(
        self, name: str, statement: SymbolicStatement, description: str, ungrouped: SymbolicStatement | None = None
    ) -> None:
        reads = [f"{role}: {', '.join(columns)}." for role, columns in statement.read_columns.items()]
        dialect = self.options.dialect
        further = list_group_parameters(dialect, statement.group_roles)
        if (self._has_table_macros or takes_checks(dialect)) and statement.checks:
            further.append(RoutineParameter(CHECKS_PARAMETER, None, "FALSE to accept wrong rows"))
            checked = ""  # the parameter says so
        else:
            checked = "Wrong rows raise an error." if statement.checks else "Wrong rows are not looked for."
        comment = document_routine(
            description, [*statement.parameters, *further], *reads, checked, *self._describe_settings(statement.request)
        )
        metrics = tuple(str(metric.metric) for metric in statement.request.metrics)
        facts = RoutineFacts(name, "table", tuple(statement.read_columns), metrics, comment)
        if self._has_table_macros:
            self._add_routine(create_table_macro(self.schema, facts, statement, ungrouped))
        else:
            self._add_routine(create_table_routine(dialect, self.schema, facts, statement))

    def _add_list_function(self, name: str) -> None:
        file = load_list_functions()[name]
        declared = [file.params.get(argument) for argument in file.function_arguments]
        parameters = [
            RoutineParameter(name, None, LIST_PARAMETERS[name] if param is None else param.about, param)
            for name, param in zip(file.function_arguments, declared, strict=True)
        ]
        metric = file.description.partition(" ")[0].replace("@k", f"@{DEFAULT_CUTOFF}")
        facts = RoutineFacts(name, "list", ("answers",), (metric,), document_routine(file.description, parameters))
        body, dialect = self._check_ranges(build_list_function(name), parameters), self.options.dialect
        if self._has_table_macros:
            self._add_routine(create_scalar_macro(self.schema, facts, body, parameters))
        else:
            self._add_routine(create_list_routine(dialect, self.schema, facts, body, parameters))

    def _check_ranges(self, value: exp.Expr, parameters: Sequence[RoutineParameter]) -> exp.Expr:
        return value if self.options.check == "off" else refuse_ranges(value, parameters, self.options.dialect)

    def _describe_settings(self, request: ResolvedRequest) -> list[str]:
        """Return sentences on the settings of metrics, and on when they are undefined."""
        self.read_policies |= request.original.policies.keys()
        settings = dict.fromkeys(text for metric in request.metrics for text in self._setting_texts(metric))
        undefined = request.metrics[0].file.annotations.get("Undefined", "") if len(request.metrics) == 1 else ""
        return [
            f"Undefined: {undefined}." if undefined else "",
            f"Settings: {', '.join(settings)}." if settings else "",
        ]

    def _setting_texts(self, metric: ResolvedMetric) -> list[str]:
        """Return the policies and functions that decide a metric, with their values."""
        library = self.options.library
        names = [*library.policies, *(name for name in metric.file.declared_settings if name in library.functions)]
        names += LIST_SLOTS if metric.input_role == "run" and metric.file.grain == "list" else ()
        read = metric.dependencies.settings | {*LIST_SLOTS}
        if metric.input_role != "run":
            names = [name for name in names if name != "ties" or name in metric.settings]
        values = {name: _find_value(metric.settings.get(name), name, library) for name in names if name in read}
        return [f"{name}={value}" for name, value in values.items() if value != "error"]

    def _add_routine(self, function: Routine) -> None:
        self.functions[function.facts.kind, function.facts.name] = function


def _find_value(value: Any, name: str, library: Any) -> Any:
    """Return the value of a setting, or its default."""
    if value is not None:
        return value
    return library.allowed_values(name)[0] if name in library.policies else library.default_function(name)


def _one_line(error: SqlrankError) -> str:
    return " ".join(str(error).split())
