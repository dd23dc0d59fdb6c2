"""A metric that was asked for, looked up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlrank.library.metric import OWN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.library.file import SqlFile
    from sqlrank.library.metric import Metric, Value
    from sqlrank.library.uses import Uses

CUTOFF = "k"
"""The column of the cut-off of a row, where a range is asked for, or that of each query."""

EACH = "each cutoff"
"""What a cut-off is that is each of a range, or that of each query."""

OWN_CUTOFFS = "own_cutoffs"
"""The relation that has the cut-off of each query."""


@dataclass(frozen=True)
class Asked:
    """A metric that was asked for, its file, every setting that bears on it, and what it reads under these.

    ``home`` is the role that it is of: ``run`` for metrics of rankings. ``per_list`` says that a metric of groups is computed for
    each list of a group, as ``level=query`` asks for.
    """

    metric: Metric
    file: SqlFile
    settings: Mapping[str, Value]
    uses: Uses
    home: str

    @property
    def per_list(self) -> bool:
        """Whether a metric of groups has a value per list, and its file does not say itself what becomes of them."""
        is_of_lists = self.file.grain == "list" and self.home != "run"
        return is_of_lists or (self.settings.get("level") == "query" and "level" not in self.file.choices)

    def planned(self, plans: Mapping[str, Value]) -> Asked:
        """Return the metric under plans, and what it reads under these."""
        return replace(self, settings={**self.settings, **plans})

    @property
    def has_own_cutoffs(self) -> bool:
        """Whether the cut-off is that of each query."""
        return self.metric.cutoff == OWN

    @property
    def swept(self) -> Asked:
        """The metric with several cut-offs as the statement computes it: at the cut-off of each row; any other as it is."""
        if not isinstance(self.metric.cutoff, (tuple, str)) or self.file.at is None:
            return self
        return replace(self, settings={**self.settings, self.file.at.name: EACH})
