"""Record a resolved metric (file, effective settings, dependencies), and give columns of metrics plain unique names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlrank.registry.metric import QUERY_CUTOFF, Metric, ParameterValue, is_respelled, to_sql_name
from sqlrank.unique_names import unique_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlrank.registry.dependencies import Dependencies
    from sqlrank.registry.measured_columns import MeasuredColumn
    from sqlrank.registry.sql_file import SqlFile

CUTOFF_COLUMN = "k"
"""Name of the column that holds a row's cut-off.

It is used for a range of cut-offs, or one per query.
"""

CUTOFF_PLACEHOLDER = "each cutoff"
"""Placeholder for a cut-off that is read from a column.

It is bound to the cut-off parameter for a range (``@1..20``) or a cut-off per query, in place of a literal.
"""

QUERY_CUTOFFS_RELATION = "query_cutoffs"
"""Name of the relation that holds the cut-off of each query."""


@dataclass(frozen=True)
class ResolvedMetric:
    """A requested metric with its file, effective settings and dependencies.

    Attributes:
        metric: The canonical metric.
        file: Its SQL file.
        settings: Effective values of parameters, policies and function slots.
        dependencies: Everything that the file reads under these settings.
        input_role: The input role that the metric evaluates, ``run`` for metrics of ranked lists.
        requested_names: The names under which it was requested, as they were written.
        column_names: The names of its columns in results: the requested ones, or plain identifiers.
        measured_column: The column that the metric measures, None for metrics that measure none.
        is_lower_better: The caller says that lower values of the measured column are better.
    """

    metric: Metric
    file: SqlFile
    settings: Mapping[str, ParameterValue]
    dependencies: Dependencies
    input_role: str
    requested_names: tuple[str, ...] = ()
    column_names: tuple[str, ...] = ()
    measured_column: MeasuredColumn | None = None
    is_lower_better: bool = False

    @property
    def sql_column(self) -> str:
        """The column of the metric in SQL, such as ``ndcg_at_10``."""
        return self.metric.sql_column(self.file.value_name)

    @property
    def required_row_checks(self) -> list[str]:
        """The checks of rows that its files require under its settings, such as ``binary labels``."""
        return list(dict.fromkeys(check for file in self.dependencies.files for check in file.find_row_checks(self.settings)))

    @property
    def is_per_list(self) -> bool:
        """True if a metric of groups is computed for each list (``level=query``).

        False for files that declare ``level`` themselves.
        """
        is_of_lists = self.file.grain == "list" and self.input_role != "run"
        return is_of_lists or (self.settings.get("level") == "query" and "level" not in self.file.declared_settings)

    def with_plan(self, plans: Mapping[str, ParameterValue]) -> ResolvedMetric:
        """Return a copy with the chosen plans among the settings."""
        return replace(self, settings={**self.settings, **plans})

    @property
    def has_query_cutoffs(self) -> bool:
        """True if each query has its own cut-off."""
        return self.metric.cutoff == QUERY_CUTOFF

    @property
    def at_each_cutoff(self) -> ResolvedMetric:
        """A copy whose cut-off is read from the cut-off column.

        The metric itself if its cut-off is a literal.
        """
        if not isinstance(self.metric.cutoff, (tuple, str)) or self.file.cutoff_parameter is None:
            return self
        return replace(self, settings={**self.settings, self.file.cutoff_parameter.name: CUTOFF_PLACEHOLDER})


def with_plain_names(metrics: Iterable[ResolvedMetric]) -> list[ResolvedMetric]:
    """Replace the column names of metrics by unique identifiers, such as ``ndcg_at_10``, which other tools accept."""
    taken: set[str] = set()
    renamed = []
    for metric in metrics:
        names = []
        for name in metric.requested_names:
            names.append(unique_name(metric.sql_column if is_respelled(name, str(metric.metric)) else to_sql_name(name), taken))
            taken.add(names[-1])
        renamed.append(replace(metric, column_names=tuple(names)))
    return renamed
