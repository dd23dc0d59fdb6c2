"""What was asked for, looked up: metrics, policies, groupings and sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlrank import settings
from sqlrank.errors import InputError, MetricError
from sqlrank.library import Library, library

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sqlrank.settings import Asked


@dataclass(frozen=True)
class Labelled:
    """A source whose judgments are in its ``label`` column, where that is not NULL."""

    source: Any


@dataclass(frozen=True)
class Request:
    """What was asked for, looked up."""

    library: Library
    asked: list[Asked]
    sets: list[list[str]] | None
    by: list[str]
    settings: Mapping[str, Any]

    @property
    def is_of_predictions(self) -> bool:
        """Whether the metrics are those of predictions, rather than of rankings."""
        return "predictions" in self.library.inputs(self.asked[0].file)

    @property
    def inner_names(self) -> list[str]:
        """The names that columns have inside the statement."""
        return [*self.library.inner_columns, *(item.metric.slug for item in self.asked), "weight", "k"]

    def uses(self, policy: str, value: str) -> bool:
        """Whether a policy has this value for any of the metrics."""
        return any(item.settings.get(policy) == value for item in self.asked)


def split_queries(queries: Any, policies: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Tell the policy ``queries="intersect"`` from a table of queries; ``topics`` names the policy beside a table."""
    policies = dict(policies)
    if "topics" in policies:
        policies["queries"] = policies.pop("topics")
    elif isinstance(queries, str) and queries in library().policy_values("queries"):
        policies["queries"] = queries
        queries = None
    return queries, policies


def numbering(dialect: str) -> dict[str, str]:
    """Return the setting by which lists are known: numbers of their own are worth their while on DuckDB only."""
    return {} if dialect == "duckdb" else {"numbering": "plain"}


def library_of(sql_dir: str | Path | None) -> Library:
    """Return the library, with the files of a folder of the user's if there is one."""
    return library(*([] if sql_dir is None else [str(sql_dir)]))


def look_up(metrics: Any, by: Any, compat: str | None, sql_dir: Any, policies: Mapping[str, Any]) -> Request:
    """Return the request; raise ``MetricError`` for what does not exist or does not fit."""
    found = library_of(sql_dir)
    asked = settings.ask(metrics, found, compat, policies)
    if not isinstance(by, (str, list, tuple, type(None))) or not all(isinstance(item, (str, list, tuple)) for item in by or ()):
        raise MetricError(f"by={by!r} is not possible: give a column, a list of columns, or a list of lists")
    columns = [by] if isinstance(by, str) else list(by or ())
    sets = None
    if any(not isinstance(item, str) for item in columns):
        sets = [[item] if isinstance(item, str) else list(item) for item in columns]
        columns = list(dict.fromkeys(name for group in sets for name in group))
        sets = None if len(sets) == 1 else sets
    if len(set(columns)) < len(columns):
        raise MetricError(f"by names a column twice: {', '.join(columns)}")
    families = {"predictions" in found.inputs(item.file): str(item.metric) for item in reversed(asked)}
    if len(families) > 1:
        raise MetricError(f"{families[False]} is a metric of rankings and {families[True]} one of predictions; ask for them in two calls")
    _refuse_clashes(columns, asked, {"score"} if True in families else set())
    shared = {name: asked[0].settings.get(name) for name in ("queries", "numbering", "score_type")}
    for item in asked:
        for name, value in shared.items():
            if item.settings.get(name) != value:
                raise MetricError(f"{name} holds for a whole call; give {name}={value!r} as a policy, not to single metrics")
    return Request(found, asked, sets, columns, {name: value for name, value in shared.items() if value is not None})


def _refuse_clashes(by: list[str], asked: list[Asked], taken: set[str]) -> None:
    """Refuse to group by what identifies a document, or by the name of a column that the result has anyway."""
    taken |= {"query_id", "doc_id", "label", *(str(item.metric) for item in asked)}
    taken |= {"k"} if any(isinstance(item.metric.cutoff, tuple) for item in asked) else set()
    for name in by:
        if name in taken:
            raise MetricError(f"by cannot name {name!r}, which is a column of the run or of the result; rename the column")


def given_sources(request: Request, run: Any, qrels: Any, predictions: Any, queries: Any) -> dict[str, Any]:
    """Return the sources by role; for metrics of rankings ``predictions`` are run and qrels at once."""
    if request.is_of_predictions:
        if predictions is None or any(source is not None for source in (run, qrels, queries)):
            raise InputError(
                f"{request.asked[0].metric} needs predictions= (--predictions), a table with label and score, and nothing else"
            )
        return {"predictions": predictions}
    if predictions is not None:
        if run is not None or qrels is not None:
            raise InputError("give either predictions, which are run and judgments in one table, or run and qrels")
        table = (
            pa.table(predictions) if hasattr(predictions, "__arrow_c_stream__") and not hasattr(predictions, "sql_query") else predictions
        )
        given = {"run": table, "qrels": Labelled(table)}
    else:
        given = {"run": run, "qrels": qrels}
        absent = [role for role, source in given.items() if source is None]
        if absent:
            raise InputError(
                f"no {' and no '.join(absent)}; ranking metrics need run= and qrels=, or predictions= (--run and --qrels, or --predictions)"
            )
    return given | ({} if queries is None else {"queries": queries})
