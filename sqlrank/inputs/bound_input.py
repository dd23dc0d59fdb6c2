"""Record an input bound to a table: columns, filters, types of keys and time zones, and its
SELECT.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.compiler.select_builders import drop_comments_repeated_in_query
from sqlrank.engines.source_tables import ZONED_TYPES, SourceTable
from sqlrank.errors import InputError
from sqlrank.registry.resolved_metric import find_references
from sqlrank.rendering.dialects import get_dialect
from sqlrank.sql_ast import (
    BIGINT,
    DOUBLE,
    INT,
    expression_text,
    find_nodes,
    is_exact_integer,
    is_not_null,
    quoted_column,
    sql_literal,
    take_first,
    write_tree,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sqlrank.call.resolve import ResolvedRequest
    from sqlrank.compiler.layout import GroupColumn
    from sqlrank.engines.database import Database
    from sqlrank.engines.source_tables import SourceTable
    from sqlrank.registry.roles import Role
    from sqlrank.rendering.dialect import Dialect


_KEYS = ("key", "list")
"""Kinds of columns that are keys, or may be lists of keys."""


NARROW_NUMBERS = {"FLOAT", "TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER"}
"""Types whose values are exact as doubles, and whose arithmetic rounds or overflows; wider integers
keep their order as they are.
"""


@dataclass(frozen=True, eq=False)
class BoundInput:
    """A table bound to a role.

    Attributes:
        role: The role.
        table: The resolved source.
        database: The session that the table is of.
        checks: File of its row checks.
        columns: Columns of the table by canonical or ``by`` name.
        expressions: Expressions over columns, by their text.
        types: Types of these expressions.
        group_names: Group-by columns under their names in the statement.
        where: Filter condition.
        not_null: Columns whose NULL rows are excluded.
        as_text: Columns that are cast to text.
        is_labelled: Judgments are derived from the labels of predictions.
        assembled_from: Label of the column that the rows are assembled from, if they are not those
            of a table.
    """

    role: Role
    table: SourceTable
    database: Database
    checks: Path | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    expressions: Mapping[str, exp.Expr] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    group_names: tuple[str, ...] = ()
    where: exp.Expr | None = None
    not_null: tuple[str, ...] = ()
    as_text: frozenset[str] = frozenset()
    is_labelled: bool = False
    assembled_from: str = ""

    @property
    def label(self) -> str:
        """Label of the input in messages."""
        return f"{self.assembled_from or self.role.name} ({self.table.label})"

    @property
    def joined_from(self) -> list[str]:
        """The roles that its rows are a join of."""
        return self.assembled_from.split(" and ")

    @property
    def dialect(self) -> Dialect:
        """The dialect of its table."""
        return get_dialect(self.table.dialect)

    @property
    def unique_columns(self) -> tuple[str, ...]:
        """The columns that identify a row, of optional ones those that the table has."""
        return tuple(
            name
            for name in self.role.unique
            if name in self.columns or name not in self.role.optional_unique_columns
        )

    @property
    def merges_rows(self) -> bool:
        """True if rows are merged that differ in an optional unique column alone."""
        return any(name in self.columns for name in self.role.optional_unique_columns)

    @property
    def duplicate_hint(self) -> str:
        """The advice for duplicate rows of a table that may have an optional unique column under
        another name.
        """
        fallbacks = (
            (name, self.role.columns[name].fallback)
            for name in self.role.optional_unique_columns
            if name not in self.columns
        )
        return "".join(
            f", or say with columns={{{name!r}: {fallback!r}}} that each is of another {name}"
            for name, fallback in fallbacks
            if fallback in self.table.types
        )

    def bind_columns(self, mapping: Mapping[str, str], used: Collection[str] = ()) -> BoundInput:
        """Return a copy with canonical columns bound to mapped columns, or to columns of the same
        name.

        A weight is not read from a column that the caller has ``used`` as something else.
        """
        columns = dict(self.columns)
        used_names = set[str]()
        for text in used:
            tree = self.expressions.get(text, exp.column(self.table.find_column(text) or ""))
            used_names |= {column.name for column in find_nodes(tree, exp.Column)}
        for canonical, spec in self.role.columns.items():
            mapped = mapping.get(canonical)
            is_used = spec.default is not None and self.table.find_column(canonical) in used_names
            is_read_by_name = self.table.column_types is not None and not is_used
            candidates = [mapped, canonical] if is_read_by_name else [mapped]
            for candidate in candidates:
                if candidate is not None and (column_name := self.find_column(candidate)):
                    columns.setdefault(canonical, column_name)
        return replace(self, columns=columns).allow_keys()

    def allow_keys(self) -> BoundInput:
        """Return a copy in which keys are read that sources have as numbers and as texts."""
        keys = {
            column_name
            for name, column_name in self.columns.items()
            if (column := self.role.columns.get(name)) and column.type in _KEYS
        }
        problems = {
            name: problem
            for name, problem in self.table.problems.items()
            if name not in keys or not problem.allows_keys
        }
        return (
            self
            if len(problems) == len(self.table.problems)
            else replace(self, table=replace(self.table, problems=problems))
        )

    def leave_out_unreadable(self, needed: Iterable[str]) -> BoundInput:
        """Return a copy without columns that have a problem and are not needed; raise
        ``InputError`` for those that are.
        """
        if not self.table.problems:
            return self
        needed = {*needed, *self.group_names}
        self.table.require_readable(
            column_name for name, column_name in self.columns.items() if name in needed
        )
        return replace(
            self,
            columns={
                name: column
                for name, column in self.columns.items()
                if name in needed or column not in self.table.problems
            },
        )

    def with_columns(self, columns: Mapping[str, str]) -> BoundInput:
        """Return a copy with further columns, if there are any."""
        return replace(self, columns={**self.columns, **columns}) if columns else self

    def with_group_columns(self, columns: Mapping[str, str]) -> BoundInput:
        """Return a copy with further group-by columns, under their names in the statement."""
        return replace(self.with_columns(columns), group_names=(*self.group_names, *columns))

    def with_expression(self, text: str, tree: exp.Expr, duckdb_type: str) -> BoundInput:
        """Return a copy with an expression and its type."""
        return replace(
            self,
            expressions={**self.expressions, text: tree},
            types={**self.types, text: duckdb_type},
        )

    def with_filter(self, condition: exp.Expr) -> BoundInput:
        """Return a copy with a further filter condition."""
        return replace(
            self,
            where=condition if self.where is None else exp.and_(self.where, condition, copy=False),
        )

    def with_text(self, names: Iterable[str]) -> BoundInput:
        """Return a copy with columns that are cast to text."""
        return replace(self, as_text=self.as_text | set(names))

    def find_column(self, text: str) -> str | None:
        """Return the column of a name, or the text of a bound expression."""
        return text if text in self.expressions else self.table.find_column(text)

    def assume_columns(self, needed: Iterable[str]) -> BoundInput:
        """Return a copy with needed columns of a table without inspection bound to their canonical
        names.
        """
        if self.table.column_types is not None:
            return self
        return self.with_columns(
            {
                name: self.table.find_column(name) or name
                for name in needed
                if name not in self.columns
            }
        )

    def with_fallbacks(self, needed: Iterable[str]) -> BoundInput:
        """Return a copy with needed columns that the table lacks bound to their substitutes, where
        it has these.
        """
        columns = {
            name: self.role.columns[name].fallback
            for name in needed
            if name not in self.columns and name in self.role.columns
        }
        return self.with_columns(
            {
                name: fallback
                for name, fallback in columns.items()
                if self.table.column_types and self.find_column(fallback)
            }
        )

    def column_type(self, canonical: str) -> str:
        """Return the DuckDB type of a canonical column as read, empty if missing or unknown: a text
        for columns of ``as_text``, and those that name rows of results but have no type there.
        """
        own_type = self._find_own_type(canonical)
        is_text = canonical in self.as_text or (
            own_type in _WITHOUT_ARROW_TYPE
            and canonical in {*self.group_names, self.role.query_column or "query_id"}
        )
        return "VARCHAR" if is_text else own_type

    def _find_own_type(self, canonical: str) -> str:
        column_name = self.columns.get(canonical, "")
        return self.types.get(column_name) or self.table.types.get(column_name, "")

    def column_label(self, name: str) -> str:
        """Return the label of a column in messages.

        It is the table's name for ``by`` columns, else the canonical name.
        """
        return self.columns[name] if name in self.group_names else name

    def qualified_label(self, name: str) -> str:
        """Return the label of a column with that of its input: ``run.doc_id``, or
        ``answers.retrieved`` if it holds elements of a list.
        """
        return (
            self.assembled_from
            if self.assembled_from and name == "doc_id"
            else f"{self.role.name}.{self.column_label(name)}"
        )

    def select_columns(
        self,
        needed: Iterable[str],
        score_type: str = "given",
        for_display: bool = False,
        keep_types: bool = False,
        keep_nulls: bool = False,
        further_items: Sequence[exp.Expr] = (),
    ) -> exp.Select:
        """Return a SELECT of the needed columns under canonical names, with defaults for optional
        ones.

        Args:
            needed: Canonical names.
            score_type: Type of scores: ``raw_expression``, ``float32`` or ``float64``.
            for_display: Use the user's notation, without temporary tables.
            keep_types: Keep the types of numbers.
            keep_nulls: Include rows that have NULL in required columns.
            further_items: Items that follow these columns, such as several scores.
        """
        select_items = [
            _alias_unless_equal(
                self.typed_expression(name, score_type, keep_types),
                name,
                quoted=name in self.group_names,
            )
            for name in [*self.group_names, *needed]
        ]
        items = [*drop_comments_repeated_in_query(select_items), *further_items]
        query = exp.select(*items, copy=False)
        query = query.where(self.where.copy(), copy=False) if self.where is not None else query
        for name in () if keep_nulls else self.not_null:
            query = query.where(is_not_null(self.raw_expression(name)), copy=False)
        read_columns = {column.name: column.this for column in find_nodes(query, exp.Column)}
        return _qualify_columns(
            query.from_(self.table.from_clause(read_columns.values(), for_display), copy=False)
        )

    def select_unfiltered(self, value: exp.Expr, item: str | None = None) -> exp.Select:
        """Return a SELECT over the table of an expression, or of another item beside it."""
        read_columns = [column.this for column in find_nodes(value, exp.Column)]
        return exp.select(value if item is None else item).from_(
            self.table.from_clause(read_columns)
        )

    def source_types(self, name: str) -> set[str]:
        """Return the types of a column in its table and in the members of a union."""
        column = self.columns.get(name, "")
        tables, types = [self.table], {self.column_type(name)}
        for table in tables:
            tables += table.members
            own = table.types.get(table.find_column(column) or "")
            types |= {own} if own else set()
        return types

    def typed_expression(
        self, name: str, score_type: str = "given", keep_types: bool = False
    ) -> exp.Expr:
        """Return a column as an expression of the required type.

        Numbers are cast to double where necessary.
        """
        column = self.role.columns.get(name)
        if name not in self.columns:
            default = None if column is None else column.default
            return exp.cast(exp.Null() if default is None else exp.Literal.number(default), DOUBLE)
        value = self.raw_expression(name)
        duckdb_type = self.column_type(name)
        value.type = exp.DataType.build(DOUBLE) if duckdb_type == "DOUBLE" else None
        if duckdb_type == "BOOLEAN" or (not duckdb_type and column is not None and column.is_flag):
            is_double = (
                column is not None
                and column.type == "double"
                and duckdb_type == "BOOLEAN"
                and not keep_types
            )
            return exp.cast(exp.cast(value, INT), DOUBLE) if is_double else exp.cast(value, INT)
        is_changed = duckdb_type == "VARCHAR" and self._find_own_type(name) != "VARCHAR"
        if name in self.as_text or is_changed or duckdb_type.startswith("ENUM"):
            value = exp.cast(value, "VARCHAR")
        if name == "doc_id" and self.table.has_collations and duckdb_type == "VARCHAR":
            return exp.Collate(this=value, expression=exp.to_identifier("C", quoted=True))
        if column is not None and column.is_number:
            has_unknown_type = self.table.column_types is None and column.type == "number"
            needs_double = column.type == "double" and duckdb_type != "DOUBLE"
            needs_double |= (
                name == "score" and self.role.name != "run" and duckdb_type in NARROW_NUMBERS
            )
            needs_double |= (
                name == "score" and score_type != "given" and duckdb_type not in {"DOUBLE", "FLOAT"}
            )
            if duckdb_type.startswith("DECIMAL") or (
                not keep_types and (has_unknown_type or needs_double)
            ):
                value = exp.cast(value, DOUBLE)
            value = _to_float32(value) if score_type == "float32" and name == "score" else value
            if (
                column.is_ordered
                and duckdb_type in {"", "FLOAT", "DOUBLE"}
                and self.dialect.distinguishes_zeros
            ):
                value = exp.Add(this=value, expression=sql_literal(0))
                value.comments = ["+ 0 makes -0.0 a 0.0"]
        return value

    def raw_expression(self, name: str) -> exp.Expr:
        """Return a column without casts: an expression, or a column name, quoted unless
        canonical.
        """
        column_name = self.columns[name]
        if column_name in self.expressions:
            return self.expressions[column_name].copy()
        if self.table.column_types is None and name not in self.group_names:
            for canonical in (name, self.role.query_column):  # which a unit may be
                if canonical is not None and column_name == self.table.find_column(canonical):
                    return exp.column(canonical)
        return quoted_column(column_name)


def column_text(bound_input: BoundInput, name: str) -> str:
    """Return the column or the expression that is bound to a name as SQL."""
    column = bound_input.columns[name]
    dialect = bound_input.dialect.sqlglot
    return exp.to_identifier(column).sql(dialect) if column in bound_input.table.types else column


def bound_expression(bound_input: BoundInput, name: str) -> exp.Expr:
    """Return the column or the expression that is bound to a name, as an operand of another
    expression.
    """
    parsed: exp.Expr = exp.maybe_parse(
        column_text(bound_input, name), dialect=bound_input.dialect.sqlglot_name
    )
    is_operand = isinstance(parsed, (exp.Column, exp.Func)) and not isinstance(parsed, exp.Binary)
    return parsed if is_operand else exp.paren(parsed)


def comparable_columns(
    inputs: Mapping[str, BoundInput], columns: Mapping[str, Sequence[str]]
) -> dict[str, list[tuple[str, str]]]:
    """Group columns whose values are compared across inputs, by the entity they reference.

    Group-by columns are compared as well.
    """
    columns_by_entity: dict[str, list[tuple[str, str]]] = {}
    for role, names in columns.items():
        for name in names:
            column = inputs[role].role.columns.get(name)
            if key := (
                column.references
                if column is not None and name not in inputs[role].group_names
                else name
            ):
                columns_by_entity.setdefault(key, []).append((role, name))
    return columns_by_entity


def _alias_unless_equal(value: exp.Expr, name: str, quoted: bool) -> exp.Expr:
    if isinstance(value, exp.Column) and value.name == name and value.this.quoted == quoted:
        return value
    comments = value.pop_comments()
    column = exp.Alias(this=value, alias=exp.Identifier(this=name, quoted=quoted))
    column.comments = comments
    return column


def _qualify_columns(query: exp.Select) -> exp.Select:
    """Qualify columns by the table's alias, because engines resolve bare names differently."""
    table = query.args["from_"].this
    if isinstance(table, exp.Table) and table.alias:
        for column in find_nodes(query, exp.Column):
            column.set("table", exp.to_identifier(table.alias))
    return query


def _to_float32(score: exp.Expr) -> exp.Expr:
    """Cast a score to single precision, with infinity for values out of range."""
    case = exp.Case(default=exp.cast(score, "FLOAT"))
    for sign, beyond in (("", exp.GTE), ("-", exp.LTE)):
        limit = exp.Literal.number(f"{sign}3.4028235677973366e38")
        case.append(
            "ifs",
            exp.If(
                this=beyond(this=score.copy(), expression=limit),
                true=exp.cast(sql_literal(f"{sign}inf"), "FLOAT"),
            ),
        )
    return case


INTEGERS = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "UHUGEINT",
    "BIGNUM",
)
_WITHOUT_ARROW_TYPE = ("BIGNUM", "BIT", "TIME WITH TIME ZONE", "UHUGEINT")
"""Types whose values would be bytes in a result, without their time zone, or negative."""
_INEXACT = ("FLOAT", "DOUBLE", "DECIMAL")
_TEXTS = ("VARCHAR", "ENUM")


def align_keys(inputs: Mapping[str, BoundInput]) -> dict[str, BoundInput]:
    """Return the inputs with keys of one type where they are compared, and where a value of one
    occurs in the other.

    Raises:
        InputError: Floats that are not whole, or too great to be exact, are compared with integers
            or texts.
    """
    columns_by_role = {
        role: [*bound_input.role.columns, *bound_input.group_names]
        for role, bound_input in inputs.items()
    }
    aligned = dict(inputs)
    for compared_columns in comparable_columns(inputs, columns_by_role).values():
        duckdb_types = {
            column: inputs[column[0]].column_type(column[1]) for column in compared_columns
        }
        texts, integers, floats = (
            [
                column
                for column, duckdb_type in duckdb_types.items()
                if _has_type(duckdb_type, names)
            ]
            for names in (_TEXTS, (*INTEGERS, "UUID"), _INEXACT)
        )
        if {"HUGEINT", "UHUGEINT"} <= {*duckdb_types.values()}:
            role, name = next(key for key, text in duckdb_types.items() if text == "UHUGEINT")
            raise InputError(
                f"{role}.{name} is UHUGEINT and is compared with HUGEINT, which DuckDB does as"
                " DOUBLE, so that ids near each other are the same. Give"
                f" columns={{'{role}.{name}':"
                f" 'CAST({column_text(inputs[role], name)} AS HUGEINT)'}}"
            )
        for role, name in floats if texts or integers else ():
            aligned[role] = _read_integers(aligned[role], name)
        for role, name in [*integers, *floats] if texts else ():
            bound_input = aligned[role].with_text([name])
            # Labels and the positions of scores in lists are compared as texts: a later check names
            # both.
            is_one_assembled = bool(bound_input.assembled_from) and {
                other for other, _ in compared_columns
            } == {role}
            if is_one_assembled or any(
                _have_common_value((bound_input, name), (aligned[other], text))
                for other, text in texts
            ):
                aligned[role] = bound_input
    return aligned


def _has_type(duckdb_type: str, names: tuple[str, ...]) -> bool:
    return duckdb_type.startswith(names) and not duckdb_type.endswith("]")


def _have_common_value(number: tuple[BoundInput, str], text: tuple[BoundInput, str]) -> bool:
    """Return True if a text is that of a number; if none is, the types say more than that nothing
    matches.
    """
    sides = []
    for alias, (bound_input, name) in (("numbers", number), ("texts", text)):
        value = bound_input.typed_expression(name).as_("value")
        sides.append(bound_input.select_unfiltered(value).subquery(alias))
    is_same = exp.column("value", table="numbers").eq(exp.column("value", table="texts"))
    return bool(
        number[0].database.query_rows(
            exp.select("1 AS one").from_(sides[0]).join(sides[1], on=is_same).limit(1)
        )
    )


def _read_integers(bound_input: BoundInput, name: str) -> BoundInput:
    """Return an input with a column of floats as integers; raise ``InputError`` if one is not
    whole, or beyond what floats tell apart.
    """
    value = exp.column(name)
    rows = bound_input.select_columns(
        [] if name in bound_input.group_names else [name], keep_types=True
    ).subquery("inexact")
    for (example,) in bound_input.database.query_rows(
        take_first(exp.select(value.copy()).from_(rows).where(exp.not_(is_exact_integer(value))))
    ):
        raise InputError(
            f"{bound_input.label}: {bound_input.column_label(name)} is"
            f" {bound_input.column_type(name)}, and {example!r} is no integer below 2 ** 53, which"
            " integers and texts could be compared with. Write ids as integers or texts where they"
            " are made"
        )
    number = exp.cast(bound_input.raw_expression(name), BIGINT)
    text = write_tree(number)
    return bound_input.with_expression(text, number, "BIGINT").with_columns({name: text})


_CLOCKS = (exp.CurrentDate, exp.CurrentDatetime, exp.CurrentTime, exp.CurrentTimestamp)
_ZONED_CASTS = (exp.DataType.Type.TIMESTAMPTZ, exp.DataType.Type.TIMETZ)


def find_time_zone(inputs: Iterable[BoundInput], database: Database) -> str:
    """Return the time zone of the session if the columns that inputs read depend on it, empty if
    none does.
    """
    return database.time_zone if any(map(_reads_zoned_times, inputs)) else ""


def _reads_zoned_times(bound_input: BoundInput) -> bool:
    column_types = bound_input.table.types
    trees = [
        bound_input.expressions[name]
        for name in bound_input.columns.values()
        if name in bound_input.expressions
    ]
    trees += [] if bound_input.where is None else [bound_input.where]
    names = {
        *bound_input.columns.values(),
        *(column.name for tree in trees for column in find_nodes(tree, exp.Column)),
    }
    texts = [
        text
        for tree in trees
        for node in tree.walk()
        if (text := expression_text(node)) is not None
    ]
    return any(column_types.get(name, "").startswith(ZONED_TYPES) for name in names) or any(
        node.is_type(*_ZONED_CASTS) if isinstance(node, exp.Cast) else True
        for text in texts
        for node in text.tree.find_all(exp.Cast, *_CLOCKS)
    )


@dataclass(frozen=True, eq=False)
class BoundInputs:
    """The inputs of a request, bound to their tables.

    Attributes:
        request: The request.
        database: The database session.
        by_role: The inputs by role.
        needed_columns: The columns needed of each input.
        group_columns: The group-by columns.
        scores: Score columns, if several are evaluated.
        condition: The condition of ``where``.
    """

    request: ResolvedRequest
    database: Database
    by_role: Mapping[str, BoundInput]
    needed_columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    group_columns: tuple[GroupColumn, ...] = ()
    scores: tuple[str, ...] = ()
    condition: exp.Expr | None = None

    def with_inputs(self, changed: Mapping[str, BoundInput]) -> BoundInputs:
        """Return the same with other or further inputs, if there are any."""
        return replace(self, by_role={**self.by_role, **changed}) if changed else self

    @property
    def group_names(self) -> list[str]:
        """The names of the group-by columns in the statement."""
        return [column.name for column in self.group_columns]

    @property
    def base(self) -> BoundInput | None:
        """The input whose rows are evaluated.

        None for ranked lists and for roles composed of several inputs.
        """
        return self.by_role.get(self.request.base_role or "")

    @property
    def side_inputs(self) -> list[BoundInput]:
        """The inputs that are neither rankings nor the evaluated input: its components and
        companions.
        """
        return [
            self.by_role[role]
            for role in self.needed_columns
            if self.by_role[role].role.list_relation is None and self.by_role[role] is not self.base
        ]

    @property
    def has_units(self) -> bool:
        """True if the evaluated input has resampling units, in a column or as numbered rows."""
        role = None if self.base is None else self.base.role
        return role is not None and (
            (role.unit_column or "") in self.needed_columns[role.name] or self.rows_are_units
        )

    @property
    def rows_are_units(self) -> bool:
        """True if rows with several scores are numbered units shared by all scores."""
        confidence, role = (
            self.request.confidence,
            self.base.role if self.base is not None else None,
        )
        needs_shared_units = confidence is not None and confidence.per_unit and len(self.scores) > 1
        return (
            needs_shared_units
            and role is not None
            and (role.unit_column or "") not in self.needed_columns[role.name]
        )

    @property
    def roles_read_across_lists(self) -> set[str]:
        """Inputs of which a metric reads rows beyond the current list.

        An example is the popularity of items.
        """
        files = [
            file
            for metric in self.request.metrics
            for file in metric.dependencies.files
            if "group" in file.scopes
        ]
        return {
            role for file in files for role in find_references(file).tables & self.by_role.keys()
        }

    @property
    def temporary_tables(self) -> list[SourceTable]:
        """The temporary tables of this call, which have another form in the user's notation."""
        read = [
            bound_input.table
            for bound_input in self.by_role.values()
            if not bound_input.assembled_from
        ]
        tables = [member for table in read for member in table.members or (table,)]
        return list(
            {id(table): table for table in tables if table.display_item is not None}.values()
        )

    def with_temporary_tables(self, tree: exp.Query) -> exp.Query:
        """Return a copy of a statement that reads temporary tables instead of the user's
        notation.
        """
        tree = tree.copy()
        for table in self.temporary_tables:
            for node in [
                candidate
                for candidate in find_nodes(tree, type(table.display_from_item))
                if candidate == table.display_from_item
            ]:
                node.replace(table.from_item.copy())
        return tree

    @property
    def score_types(self) -> set[str]:
        """Types of the scores of predictions, none without predictions."""
        if "predictions" not in self.by_role:
            return set()
        return {
            duckdb_type
            for view in self.per_score()
            for duckdb_type in view.by_role["predictions"].source_types("score")
        }

    def per_score(self) -> Iterator[BoundInputs]:
        """Yield the inputs under each score: its column is bound as ``score``."""
        if not self.scores:
            yield self
        for score in self.scores:
            yield replace(
                self,
                by_role={
                    role: (
                        bound_input.with_columns({"score": bound_input.find_column(score) or score})
                        if role in {"predictions", "run"}
                        else bound_input
                    )
                    for role, bound_input in self.by_role.items()
                },
            )
