"""Training data: which column is which, what form the features have, and whether they can be learned from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from sqlrank.engines.database import Table
from sqlrank.engines.duckdb import rows
from sqlrank.engines.files import reader
from sqlrank.engines.names import table_named
from sqlrank.errors import InputError, suggestion
from sqlrank.inputs import checks
from sqlrank.inputs.input import Input
from sqlrank.library.selects import read_select
from sqlrank.library.shelf import library
from sqlrank.statement.keys import named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.engines.database import Database

ROLE = "training"
LONG = ("row_id", "feature", "value")
FEATURES = "features of the training data"
"""What the features are known as once they are an array of doubles."""


@dataclass(frozen=True)
class Training:
    """Training data as a statement reads them: ``model``, ``query_id``, ``label`` and ``features``, an array of doubles.

    ``names`` are those of the features, None if these are places in an array; ``by`` the columns that tell models apart, which
    are fields of ``model``. ``form`` says what holds the features, as JSON can.
    """

    item: Input
    database: Database
    query: exp.Select
    by: list[str]
    names: pa.Array | None
    form: dict[str, Any]

    def check(self, database: duckdb.DuckDBPyConnection, hopeless: exp.Select) -> int:
        """Return the number of features; raise ``InputError`` with what cannot be learned from.

        ``hopeless`` finds models without any pair to compare.
        """
        known = [name for name in ("label", "query_id", "features") if name in self.item.names]
        checks.check_values(self.database, self.item, tuple(known), ["binary labels"])
        lengths = exp.select("MIN(LEN(features))", "MAX(LEN(features))").from_(self.query.subquery(ROLE))
        shortest, longest = rows(database, lengths.sql("duckdb"))[0]
        if shortest != longest or not longest:
            what = "have no numbers" if not longest else f"have {shortest} to {longest} numbers; give all rows as many"
            raise InputError(f"{self.item.shown}: features {what}")
        if models := [row[0] for row in rows(database, hopeless.sql("duckdb"))]:
            which = f" for {checks.short(dict(zip(self.by, models[0].values(), strict=True)))}" if self.by else ""
            more = f", nor for {len(models) - 1} other models" if len(models) > 1 else ""
            raise InputError(f"{self.item.shown}: no query has both positives and negatives{which}{more}, so that nothing can be compared")
        return int(longest)

    def name_features(self, best: pa.Table) -> pa.Table:
        """Put the columns of ``by`` and the names of the features into the table of weights."""
        feature = best["feature"].combine_chunks().cast(pa.int64())
        if self.names is not None:
            feature = self.names.take(pc.subtract(feature, 1))
        models = best["model"].combine_chunks()
        keys = {name: models.field(number) for number, name in enumerate(self.by)}
        return pa.table({**keys, "feature": feature, "weight": best["weight"]})


def read_training(database: Database, source: Any, columns: Mapping[str, Any], by: Sequence[str]) -> Training:
    """Map the columns of a source; raise ``InputError`` for those that are not there or of types that do not fit."""
    role = library().roles[ROLE]
    unknown = [name for name in columns if name not in {*role.columns, *by}]
    if unknown:
        raise InputError(f"columns maps {unknown[0]!r}, which training data do not have{suggestion(unknown[0], role.columns)}")
    item = Input(role, database.find(ROLE, source), library().checks[ROLE])
    texts = {name: theirs for name, theirs in columns.items() if isinstance(theirs, str)}
    item.find(texts)
    for number, name in enumerate(by):
        if found := item.table.column(texts.get(name, name)):
            item.names[f"by_{number}"] = found
            item.by.append(f"by_{number}")
    given = columns.get("features", "features")
    wide = [given] if isinstance(given, str) else list(given)
    is_long = isinstance(given, str) and "features" not in item.names
    there = [f"by_{number}" in item.by for number in range(len(by))]
    problems = [_no_column(item, "by: ", name) for name, is_there in zip(by, there, strict=True) if not is_there]
    problems += item.missing(["label"])
    problems += item.missing(LONG) if is_long else [_no_column(item, "", name) for name in wide if item.table.column(name) is None]
    if is_long and problems:
        problems.append(f"{ROLE}: features are an array, columns={{'features': [...]}} or, in long form, {', '.join(LONG)}")
    checks.refuse(problems)
    checks.check_columns({ROLE: item}, {ROLE: ("label", "value") if is_long else ("label",)})
    if is_long:
        return _long(database, item, by)
    return _arrays(database, item, by, None if isinstance(given, str) else wide)


def _no_column(item: Input, where: str, name: str) -> str:
    there = item.table.types or {}
    return f"{where}{item.shown}: no column {name!r}{suggestion(name, there)} There are: {', '.join(there)}"


def _arrays(database: Database, item: Input, by: Sequence[str], wide: list[str] | None) -> Training:
    """Read an array, or make one of the columns given."""
    types = item.table.types or {}
    found = [str(item.table.column(name)) for name in wide] if wide is not None else [item.names["features"]]
    suffix = "[]" if wide is None else ""
    problems = [
        f"{item.shown}: {name} is {types[name]}, not {'an array of numbers' if suffix else 'a number'}; cast it"
        for name in found
        if not types[name].startswith(checks.NUMBERS) or types[name].endswith("]") != bool(suffix)
    ]
    if len(set(found)) < len(found) or not found:
        problems.append(f"columns maps features to {found!r}; name each column once")
    checks.refuse(problems)
    values = named(found[0]) if wide is None else exp.Array(expressions=[named(name) for name in found])
    item.computed[FEATURES] = exp.cast(values, "DOUBLE[]")
    item.names["features"], item.types[FEATURES] = FEATURES, "DOUBLE[]"
    form = {"array": found[0]} if wide is None else {"columns": found}
    return Training(item, database, _training(item, ["features"]), list(by), None if wide is None else pa.array(found), form)


def _long(database: Database, item: Input, by: Sequence[str]) -> Training:
    """Make a row per example of the rows per feature."""
    read = _training(item, LONG)
    names = exp.select("feature").from_(read.subquery("long")).group_by("feature").order_by("feature")
    features = database.table(database.text(names))["feature"].combine_chunks()
    if features.null_count:
        raise InputError(f"{item.shown}: feature is NULL; give it a name, or leave the row out")
    spread = read_select("learn", "spread.sql")
    for table in list(spread.find_all(exp.Table)):
        table.replace(read.subquery(ROLE))
    types = {"label": "DOUBLE", "features": "DOUBLE[]", "row_id": "VARCHAR", "query_id": "VARCHAR"}
    row = Input(item.role, Table(item.table.shown, spread.subquery("spread"), types), item.checks)
    row.find({})
    form = {"long": [item.names[name] for name in LONG]}
    return Training(row, database, spread, list(by), features, form)


def _training(item: Input, more: Sequence[str]) -> exp.Select:
    """Return the SELECT of the examples under the names that the files of learn/ know, the keys of ``by`` in one column."""
    key = exp.Struct(expressions=[exp.PropertyEQ(this=exp.to_identifier(name), expression=named(item.names[name])) for name in item.by])
    query = item.select(["label", *more]).select(
        exp.alias_(key if item.by else exp.Literal.number(1), "model"),
        exp.alias_(named(item.names["query_id"]) if "query_id" in item.names else exp.Literal.number(1), "query_id"),
    )
    for column in query.selects:
        if column.alias_or_name in {"label", "value"}:
            column.set("this", exp.cast(column.this.copy(), "DOUBLE"))
    return query


def create(database: duckdb.DuckDBPyConnection, name: str, query: exp.Expr) -> None:
    """Keep the rows of a query; raise ``InputError`` if they cannot be read."""
    try:
        database.execute(f"CREATE TEMP TABLE {name} AS {query.sql('duckdb')}")
    except (duckdb.InvalidInputException, duckdb.ConversionException, duckdb.OutOfRangeException) as error:
        raise InputError(f"{ROLE}: cannot read the examples: {str(error).splitlines()[0]}") from None


def named_source(source: str, dialect: str) -> exp.Expr:
    """Return the FROM item of a table, or for DuckDB of a file."""
    if dialect == "duckdb" and (read := reader(source)):
        return exp.Table(this=exp.func(read, exp.Literal.string(source), dialect="duckdb"))
    return table_named("source", source, dialect)


def scoring(form: Mapping[str, Any], weights: Sequence[tuple[Any, float]], source: exp.Expr) -> exp.Select:
    """Return the SELECT that scores rows: the sum of the products of features and weights."""
    if "long" in form:
        row, feature, value = form["long"]
        cases = [
            exp.If(this=exp.EQ(this=named(feature), expression=exp.convert(name)), true=exp.convert(weight)) for name, weight in weights
        ]
        weight = exp.Case(ifs=cases, default=exp.Literal.number(0))
        score = exp.Sum(this=exp.Mul(this=named(value), expression=weight))
        return exp.select(named(row), exp.alias_(score, "score")).from_(source).group_by(named(row))
    if "array" in form:
        operands: list[exp.Expr] = [
            exp.Bracket(this=named(form["array"]), expressions=[exp.Literal.number(place - 1)]) for place, _ in weights
        ]
    else:
        operands = [named(name) for name, _ in weights]
    terms = [exp.Mul(this=exp.convert(weight), expression=operand) for operand, (_, weight) in zip(operands, weights, strict=True)]
    total: exp.Expr = terms[0]
    for term in terms[1:]:
        total = exp.Add(this=total, expression=term)
    return exp.select("*", exp.alias_(total, "score")).from_(source)
