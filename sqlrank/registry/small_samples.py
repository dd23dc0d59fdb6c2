"""Read the samples that are too small for intervals of some metrics from
``sql/settings/small_samples.toml``, and describe them for notes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sqlrank.errors import enumerate_names
from sqlrank.registry.sql_folder import read_toml, sql_root


@dataclass(frozen=True)
class SmallSample:
    """Samples of at most a size, of which intervals of metrics contain the true value too rarely,
    or tests find differences too often.

    Attributes:
        data: Kind of the data, as docs/confidence.md names it.
        sample: The sample, as docs/confidence.md names it.
        metrics: The metrics without settings.
        units: Greatest number of independent units, None for any.
        smaller: Greatest number of rows of the class that fewer have, None for any.
        value: Least value of the metric, None for any.
        with_unit: True if rows are parts of units, False if rows are units, None for both.
        interval: Method of the intervals.
        covers: Percent of samples in which a 95 % interval contains the true value.
        differ: Percent of pairs of equal systems of which a test at 5 % finds a difference.
    """

    data: str
    sample: str
    metrics: tuple[str, ...]
    units: int | None = None
    smaller: int | None = None
    value: float | None = None
    with_unit: bool | None = None
    interval: str = "auto"
    covers: int = 0
    differ: int = 0

    def has_size(self, units: int, smaller: int | None, value: float | None) -> bool:
        """Return True for a sample of this size or a smaller one; a class without rows has no
        interval.
        """
        return (
            (self.units is None or units <= self.units)
            and (self.smaller is None or (smaller is not None and smaller <= self.smaller))
            and (self.value is None or (value is not None and value >= self.value))
        )

    def describe(self, names: tuple[str, ...]) -> str:
        """Return the sentence on the intervals of metrics, or on their tests.

        >>> SmallSample("numbers", "10 rows", ("MSE",), units=10, covers=82).describe(("MSE",))
        '10 units or fewer: 95 % intervals of MSE cover the true value in about 82 % of such samples'
        """  # noqa: E501
        size = (
            f"{self.units} units"
            if self.smaller is None
            else f"{self.smaller} rows of the smaller class"
        )
        least = "" if self.value is None else f" from {self.value:g} on"
        if self.differ:
            return (
                f"{size} or fewer: tests of {enumerate_names(names)} find a difference of equal"
                f" systems (p < 0.05) in up to {self.differ} %"
            )
        method = "" if self.interval == "auto" else f"{self.interval} "
        subject = f"95 % {method}intervals of {enumerate_names(names)}{least}"
        return (
            f"{size} or fewer: {subject} cover the true value in about {self.covers} % of such"
            " samples"
        )


@cache
def load_small_samples(table: str) -> tuple[SmallSample, ...]:
    """Return the rows of ``intervals`` or of ``comparisons``."""
    rows = read_toml(sql_root() / "settings" / "small_samples.toml")[table]
    return tuple(SmallSample(**{**row, "metrics": tuple(row["metrics"])}) for row in rows)
