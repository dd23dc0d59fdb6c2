"""Check the columns and rows of a rollup's table, filter its rows by conditions on keys, and merge
its batches.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlglot
from sqlglot import exp

from sqlrank.compiler.select_builders import inline_function
from sqlrank.compiler.statement import BUCKET_COLUMN
from sqlrank.errors import InputError, join_sentences, join_words, suggest_choice
from sqlrank.inputs.row_checks import NUMERIC_TYPES
from sqlrank.inputs.user_sql import parse_condition
from sqlrank.registry.loader import load_registry
from sqlrank.rendering.dialects import get_dialect
from sqlrank.result_columns import NUM_ROWS
from sqlrank.rollups.decomposition import (
    BATCH_COLUMN,
    BIN_COLUMNS,
    DAY_COLUMN,
    DEFINITION_COLUMN,
    RollupMetrics,
    describe_group,
    merge_class,
    select_row_keys,
)
from sqlrank.sql_ast import (
    case_when,
    count_rows,
    find_nodes,
    is_null,
    quoted_column,
    sql_literal,
    take_first,
    union_all,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from sqlrank.engines.database import Database
    from sqlrank.engines.source_tables import SourceTable


def parse_key_condition(
    where: str,
    table: SourceTable,
    keys: Sequence[str] | None,
    dialect: str,
    argument: str,
) -> exp.Expr:
    """Parse a condition over key columns of a rollup; any column is valid if the keys are unknown.

    Raises:
        InputError: the text is not a condition, or a column is not a key column.
    """
    tree = parse_condition(where, dialect, argument)
    for column in find_nodes(tree, exp.Column):
        column_name = table.find_column(column.name)
        if column.table or (keys is not None and column_name not in keys):
            raise InputError(
                join_sentences(
                    suggest_choice(
                        f"{argument}: {column.sql()} is no key column of the rollup",
                        column.name,
                        keys or (),
                        "There are",
                    ),
                    "Filter by other columns when the rollup is built",
                )
            )
        column.set("this", exp.to_identifier(column_name, quoted=True))
    return tree


def definition_conditions(
    where: str | None, by: Sequence[str], expressions: Mapping[str, str], dialect: str
) -> list[str]:
    """Return the AND-ed terms of a condition that filter rows within groups, as sorted SQL.

    Terms over group keys alone, such as a day, select whole groups and are left out.
    """
    if where is None:
        return []
    tree = parse_condition(where, dialect).this.tree
    groups = [
        sqlglot.parse_one(text, read=get_dialect(dialect).sqlglot_name)
        for text in expressions.values()
    ]
    names = {name.lower() for name in by if name not in expressions}

    def hide_group_keys(node: exp.Expr) -> exp.Expr:
        is_key = isinstance(node, exp.Column) and node.name.lower() in names
        return exp.Null() if is_key or node in groups else node

    conjuncts = tree.flatten() if isinstance(tree, exp.And) else [tree]
    return sorted(
        conjunct.sql("duckdb")
        for conjunct in conjuncts
        if conjunct.transform(hide_group_keys).find(exp.Column) is not None
    )


def check_duplicate_batches(
    database: Database, table: SourceTable, keys: Sequence[str], rows: exp.Subquery
) -> None:
    """Raise ``InputError`` for a batch with two rows of the same ``keys``.

    This happens if a file is read twice; sums alone would not reveal it.
    """
    key_columns = [quoted_column(name) for name in (str(table.find_column(BATCH_COLUMN)), *keys)]
    duplicate = _find_first_group(database, rows, key_columns, count_rows() > 1)
    if duplicate is not None:
        name, *values = duplicate
        raise InputError(
            f"rollup: {table.label} has the batch {name!r} twice for"
            f" {describe_group(keys, values)}, which would count twice. Delete those rows and add"
            " them once"
        )


def net_batches(
    database: Database, table: SourceTable, keys: Sequence[str], rows: exp.Subquery
) -> exp.Subquery:
    """Merge the rows of several batches by ``keys``, and drop groups that are fully retracted.

    A sum that is zero up to rounding becomes 0.

    Raises:
        InputError: a group with more retractions than rows, or no group with rows left.
    """
    columns = {name: quoted_column(name) for name in table.types}
    merges = {name: merge for name in columns if (merge := merge_class(name)) is not None}
    library = load_registry()
    merged = [
        exp.alias_(
            inline_function(library, "net_sum", [columns[name]], {})
            if merge is exp.Sum
            else merge(this=columns[name]),
            columns[name].this,
        )
        for name, merge in merges.items()
    ]
    query = exp.select(*(columns[key] for key in keys), *merged).from_(rows)
    netted = (query.group_by(*(columns[key] for key in keys)) if keys else query).subquery("s")
    non_negative = sorted(
        (name for name in merges if name.lower() in {NUM_ROWS, "positives", "negatives"}),
        key=lambda name: name.lower() != NUM_ROWS,
    )
    _check_net_sums(database, table, netted, keys, non_negative)
    remaining = exp.select("*").from_(netted).where(columns[non_negative[0]] > 0)
    count_query = exp.select(count_rows().as_("number")).from_(remaining.subquery("s"))
    if not database.query_rows(count_query)[0][0]:
        raise InputError(
            f"rollup: {table.label} has no rows to add up, since all of them have been subtracted"
        )
    return remaining.subquery("s")


def _check_net_sums(
    database: Database,
    table: SourceTable,
    rows: exp.Subquery,
    keys: Sequence[str],
    non_negative: Sequence[str],
) -> None:
    """Raise ``InputError`` for a group with a negative value in one of the columns
    ``non_negative``.
    """
    is_negative = exp.or_(*(quoted_column(name) < 0 for name in non_negative))
    select_items = [
        quoted_column(name).as_(f"value_{index}")
        for index, name in enumerate([*keys, *non_negative])
    ]
    negative_rows = database.query_rows(
        take_first(exp.select(*select_items).from_(rows).where(is_negative))
    )
    if negative_rows:
        group = describe_group(keys, negative_rows[0]) if keys else "the rollup"
        name, value = min(
            zip(non_negative, negative_rows[0][len(keys) :], strict=True),
            key=lambda name_and_value: name_and_value[1],
        )
        raise InputError(
            f"rollup: more was subtracted from {table.label} than there was: {group} is left with"
            f" {float(value):g} {name}. A batch was added twice, or is of other rows: leave it out"
            f" by where=\"{BATCH_COLUMN} <> '...'\", or rebuild these days"
        )


MAX_SUM = 1e300
"""Maximum size of a valid sum; larger values are infinite or not a number."""

NOT_A_NUMBER = "which is no number that can be added up"
"""Message for NULL, text, NaN and infinite values."""

FILE_NUMBER = "file_index"
"""The virtual DuckDB column with the number of the file that a row comes from."""

MAX_FILES_PER_MEMBER = 10**9  # numbers of files of one of several sources are below it


class Rule(NamedTuple):
    """A condition that every valid row satisfies, and the message for rows that violate it."""

    condition: exp.Expr
    meaning: str


class RollupTable:
    """A rollup table with its column names and key columns."""

    def __init__(self, table: SourceTable) -> None:
        self.table = table
        self.column_names = list(table.types)
        self.key_columns = select_row_keys(self.column_names)

    @property
    def day_column(self) -> str | None:
        """Return the day column as spelled in the table, or None if there is none."""
        name = self.table.find_column(DAY_COLUMN)
        return name if name in self.key_columns else None

    @property
    def has_bins(self) -> bool:
        """Return True if the table has the columns of score bins."""
        return all(self.table.find_column(name) is not None for name in BIN_COLUMNS)

    def has_column(self, name: str) -> bool:
        """Return True if a column of this name is known to exist, ignoring case."""
        return self.table.column_types is not None and self.table.find_column(name) is not None

    def find_column(self, name: str) -> exp.Column:
        """Return a column as it is spelled in the table, ignoring case."""
        return quoted_column(self.table.find_column(name) or name)

    def missing_metrics(self, metrics: RollupMetrics) -> list[str]:
        """Return the metrics whose columns the table does not have."""
        missing = [
            metric.name
            for metric in metrics.additive
            if any(self.table.find_column(name) is None for name in metric.aggregates)
        ]
        return missing + ([] if self.has_bins else [metric.name for metric in metrics.rank_based])

    def check_metrics(self, metrics: RollupMetrics, by: Sequence[str]) -> None:
        """Raise ``InputError`` unless the table has the columns of the metrics and the group
        keys.
        """
        missing = self.missing_metrics(metrics)
        if any(self.table.find_column(name) is None for name in (NUM_ROWS, DEFINITION_COLUMN)):
            raise InputError(
                f"rollup: {self.table.label} has no {NUM_ROWS} or no {DEFINITION_COLUMN}, and is no"
                " rollup. sqlrank.rollup (sqlrank rollup) makes one"
            )
        if missing:
            raise InputError(
                f"rollup: {self.table.label} does not have the sums of {', '.join(missing)}, with"
                " these parameters. Rebuild it with all metrics, such as sqlrank rollup"
                f" {' '.join(repr(metric.name) for metric in metrics.metrics)}"
            )
        for name in by:
            if (
                self.table.column_types is not None
                and (self.table.find_column(name) or name) not in self.key_columns
            ):
                raise InputError(
                    suggest_choice(
                        f"rollup: {name!r} is no key column of {self.table.label}",
                        name,
                        self.key_columns,
                        "There are",
                    )
                )

    def check_interval_support(self, metrics: RollupMetrics, by: Sequence[str]) -> None:
        """Raise ``InputError`` unless intervals can be computed.

        Needs buckets, or for rankings the moments of per-query values.
        """
        if not metrics.is_per_query or self.has_column(BUCKET_COLUMN):
            self.check_buckets(by)
            return
        means = metrics.list_averaged_metrics(self.has_column)
        if missing := [
            metric.name
            for metric in means
            if not all(
                self.has_column(name) for moment in metric.moments for name in moment.aggregates
            )
        ]:
            raise InputError(
                f"rollup: {self.table.label} has no sums of squares for the standard errors of the"
                f" weighted means of {', '.join(missing)}. Rebuild it, or leave out confidence="
            )

    def check_buckets(self, by: Sequence[str]) -> None:
        """Raise ``InputError`` unless the table has a bucket column that ``by`` does not name."""
        name = self.table.find_column(BUCKET_COLUMN)
        if name not in self.key_columns:
            raise InputError(
                f"rollup: {self.table.label} has no column {BUCKET_COLUMN}, which confidence="
                " needs. Rebuild it with unit=, the column whose values are independent, such as"
                " unit='user_id'"
            )
        if name in [self.table.find_column(key) for key in by]:
            raise InputError(
                f"by names {name}, within which there is no standard error. Leave out by={name!r},"
                " or confidence="
            )

    def build_rules(
        self, metrics: RollupMetrics, *, has_batches: bool, reads_bins: bool = False
    ) -> dict[str, Rule]:
        """Return the conditions that valid rows satisfy, by column.

        Only columns that the metrics read are checked. Sums of retracted rows are negative, which
        is valid if the table has batches.
        """
        num_rows = self.find_column(NUM_ROWS)

        def negate_retractions(column: exp.Column) -> exp.Expr:
            negated = 0 - column
            is_retraction = num_rows < 0
            return case_when(is_retraction, negated, column) if has_batches else column

        def not_negative(name: str) -> Rule:
            is_positive = negate_retractions(self.find_column(name)) >= 0
            return Rule(
                exp.and_(is_positive, self._is_finite(self.find_column(name))),
                "which cannot be negative",
            )

        rules = {NUM_ROWS: not_negative(NUM_ROWS)}
        if self.has_bins and (metrics.rank_based or reads_bins):
            rules |= {name: not_negative(name) for name in ("positives", "negatives")}
            score_min, score_max = (self.find_column(name) for name in ("score_min", "score_max"))
            meaning = "which is above score_max"
            rules["score_min"] = Rule(score_min <= score_max, meaning)
            has_rows = num_rows.neq(0)
            has_no_weight = exp.EQ(
                this=self.find_column("positives") + self.find_column("negatives"),
                expression=sql_literal(0),
            )
            is_bin = exp.and_(
                self._is_finite(self.find_column("bin")),
                exp.paren(exp.or_(has_rows, has_no_weight)),
            )
            rules["bin"] = Rule(is_bin, f"whose {NUM_ROWS} is 0 while its weights are not")
        for name, tree in metrics.list_read_aggregates(self.has_column).items():
            column = self.find_column(name)
            if isinstance(tree, exp.Count):
                is_count = exp.Between(
                    this=negate_retractions(column),
                    low=sql_literal(0),
                    high=negate_retractions(num_rows),
                )
                rules[name] = Rule(
                    exp.and_(is_count, self._is_finite(column)),
                    f"which counts some of {NUM_ROWS}: it is no less than 0, and no more than"
                    " these",
                )
            elif isinstance(tree, exp.Sum) and tree.this == exp.column("weight"):
                rules[name] = not_negative(name)
            else:
                rules[name] = self._value_rule(column, negate_retractions(column), tree)
        return rules

    def _value_rule(self, column: exp.Column, counted: exp.Expr, tree: exp.Expr) -> Rule:
        """Return the rule of a sum of values, which is finite and has the sign of its terms;
        ``counted`` is the column with retractions counted as rows.
        """
        null_condition = is_null(column)
        sign = _term_sign(tree.this) if isinstance(tree, exp.Sum) else 0
        comparison = {-1: exp.LTE, 1: exp.GTE}.get(sign)
        has_sign = (
            [] if comparison is None else [comparison(this=counted, expression=sql_literal(0))]
        )
        meaning = (
            f"which is a sum of values that are never {'above' if sign < 0 else 'below'} 0"
            if sign
            else NOT_A_NUMBER
        )
        return Rule(
            exp.paren(exp.or_(null_condition, exp.and_(*has_sign, self._is_finite(column)))),
            meaning,
        )

    def _is_finite(self, column: exp.Column) -> exp.Expr:
        """Return the condition that a number is finite.

        DuckDB answers comparisons from the statistics of a Parquet file, which ignore NaN. Databend
        does not treat the difference of two equal doubles as 0.
        """
        if get_dialect(self.table.dialect).statistics_ignore_nan:
            return exp.EQ(
                this=column - column,
                expression=sql_literal(0),
            )
        return exp.Abs(this=column) <= MAX_SUM

    def select_rows(
        self,
        database: Database,
        metrics: RollupMetrics,
        where: str | None,
        argument: str = "where",
        *,
        reads_bins: bool = False,
    ) -> exp.Subquery:
        """Return the rows that satisfy a condition; batches are merged.

        ``argument`` is the name of the condition in messages.

        Raises:
            InputError: no condition, no rows, rows of several definitions, impossible sums, or rows
                that would count twice.
        """
        rows = self._select_unmerged(database, where, argument)
        if not database.can_inspect:
            return rows
        rules = self.build_rules(
            metrics, has_batches=self.has_column(BATCH_COLUMN), reads_bins=reads_bins
        )
        is_below_zero = self._check_rows(database, where, argument, rules)
        if not self.has_column(BATCH_COLUMN):
            return rows
        keys = [*self.key_columns, *([str(self.table.find_column("bin"))] if self.has_bins else [])]
        check_duplicate_batches(database, self.table, keys, rows)
        if not is_below_zero:
            return rows
        self._check_extremes(database, metrics, rows, keys)
        return net_batches(database, self.table, keys, rows)

    def bucket_fingerprint(self, database: Database, where: str | None) -> str:
        """Return the bucket part of the definition hash, empty if there are no buckets."""
        rows = self._select_unmerged(database, where, "where")
        ((definition_hash,),) = database.query_rows(
            exp.select(exp.Max(this=self.find_column(DEFINITION_COLUMN)).as_("found")).from_(rows)
        )
        return str(definition_hash).partition("-")[2]

    def _select_unmerged(
        self, database: Database, where: str | None, argument: str, source: exp.Query | None = None
    ) -> exp.Subquery:
        """Return the rows that satisfy a condition, unmerged."""
        source = (
            exp.select("*").from_(self.table.from_clause())
            if source is None
            else exp.select("*").from_(source.subquery("n"))
        )
        if where is not None:
            condition_columns = (
                None
                if self.table.column_types is None
                else [
                    *self.key_columns,
                    *(
                        [str(self.table.find_column(BATCH_COLUMN))]
                        if self.has_column(BATCH_COLUMN)
                        else []
                    ),
                ]
            )
            source = source.where(
                parse_key_condition(
                    where, self.table, condition_columns, database.dialect, argument
                )
            )
        return source.subquery("s")

    def _check_rows(
        self, database: Database, where: str | None, argument: str, rules: Mapping[str, Rule]
    ) -> bool:
        """Return True if any row is a retraction; raise ``InputError`` for rows that cannot be
        merged.
        """
        self._check_types(rules)
        numbered = None if self.has_column(BATCH_COLUMN) else self._number_files()
        rows = self._select_unmerged(database, where, argument, numbered)
        # Grouping by definition compares each run of equal values once: half the time of MIN and
        # MAX.
        groups = [
            self.find_column(DEFINITION_COLUMN),
            *(
                []
                if numbered is None or self.day_column is None
                else [self.find_column(self.day_column)]
            ),
        ]
        num_valid = exp.Count(this=case_when(_all_conditions(rules), 1))
        aggregates: list[exp.Expr] = [
            exp.Min(this=self.find_column(NUM_ROWS)),
            count_rows(),
            num_valid,
        ]
        aggregates += [] if numbered is None else [case_when(_has_several_files(), 1, 0)]
        select_items = [
            groups[0],
            *(aggregate.as_(f"aggregate_{index}") for index, aggregate in enumerate(aggregates)),
        ]
        group_rows = database.query_rows(exp.select(*select_items).from_(rows).group_by(*groups))
        if not sum(row[2] for row in group_rows):
            raise InputError(
                f"rollup: {self.table.label} has no rows to add up. See what {argument}= leaves"
                " of it"
            )
        self._check_definitions({row[0] for row in group_rows})
        if any(row[3] < row[2] for row in group_rows):
            self._refuse_impossible(database, rows, rules)
        if numbered is not None and any(row[4] for row in group_rows):
            self._check_files(database, rows)
        return any(row[1] < 0 for row in group_rows)

    def _check_types(self, rules: Iterable[str]) -> None:
        """Raise ``InputError`` for an aggregate column that is not numeric."""
        for name in rules:
            duckdb_type = self.table.types.get(self.table.find_column(name) or "", "").upper()
            if duckdb_type and (
                not duckdb_type.startswith(NUMERIC_TYPES) or duckdb_type.endswith("]")
            ):
                raise InputError(
                    f"rollup: {name} of {self.table.label} is {duckdb_type}, not a number. Cast it"
                    f" in a view, CAST({name} AS DOUBLE), or rebuild the rollup"
                )

    def _check_definitions(self, definitions: Collection[str | None]) -> None:
        """Raise ``InputError`` unless all rows have the same definition."""
        if not all(definitions):
            raise InputError(
                f"rollup: {self.table.label} has rows without a {DEFINITION_COLUMN}, so that it is"
                " unknown if they can be added up. Rebuild these days with sqlrank.rollup (sqlrank"
                " rollup)"
            )
        if len(definitions) > 1:
            least, *_, most = sorted(map(str, definitions))
            days = (
                ""
                if self.table.find_column(DAY_COLUMN) is None
                else ". See which days have which: SELECT DISTINCT day, definition"
            )
            raise InputError(
                f"rollup: rows of different definitions ({least}, {most}) cannot be added up: they"
                f" are of other metrics, columns, weights, conditions or bins{days}. Choose those"
                " of one with where=, or rebuild the others"
            )

    def _refuse_impossible(
        self, database: Database, rows: exp.Subquery, rules: Mapping[str, Rule]
    ) -> None:
        """Raise ``InputError`` for the first row that violates a rule, with group, column and
        value.
        """
        keys = [self.find_column(name) for name in self.key_columns]
        validity_flags = [case_when(rule.condition, 1, 0) for rule in rules.values()]
        select_items = [
            expression.as_(f"value_{index}")
            for index, expression in enumerate(
                [*keys, *validity_flags, *map(self.find_column, rules)]
            )
        ]
        is_valid = case_when(_all_conditions(rules), 1, 0)
        query = exp.select(*select_items).from_(rows).where(is_valid.eq(0))
        (row,) = database.query_rows(take_first(query))
        rule_index = row[len(keys) : len(keys) + len(rules)].index(0)
        (name, rule), value = (
            list(rules.items())[rule_index],
            row[len(keys) + len(rules) + rule_index],
        )
        is_number = isinstance(value, (int, float, Decimal)) and math.isfinite(value)
        value_text = f"{float(value):g}" if is_number else "NULL" if value is None else str(value)
        raise InputError(
            f"rollup: {self.table.label} has rows with {value_text} in {name},"
            f" {rule.meaning if is_number else NOT_A_NUMBER}. Rebuild these days, or leave them out"
            f" by where= ({describe_group(self.key_columns, row)})"
        )

    def _check_extremes(
        self, database: Database, metrics: RollupMetrics, rows: exp.Subquery, keys: Sequence[str]
    ) -> None:
        """Raise ``InputError`` for minima and maxima of groups with retractions: they cannot be
        undone.
        """
        names = [
            metric.name
            for metric in metrics.resolve_weights(self.has_column).additive
            if any(isinstance(tree, (exp.Min, exp.Max)) for tree in metric.aggregates.values())
        ]
        if not names:
            return
        columns, num_rows = [self.find_column(name) for name in keys], self.find_column(NUM_ROWS)
        has_retraction = exp.Min(this=num_rows) < 0
        has_remaining_rows = exp.Sum(this=num_rows) > 0
        group_values = _find_first_group(
            database, rows, columns, exp.and_(has_retraction, has_remaining_rows)
        )
        if group_values is not None:
            raise InputError(
                f"rollup: {', '.join(names)} of {self.table.label} are undefined: minimum and"
                f" maximum cannot be retracted, and rows of {describe_group(keys, group_values)}"
                " were. Rebuild these days, leave them out by where=, or leave out"
                f" {', '.join(names)}"
            )

    def _number_files(self) -> exp.Query | None:
        """Return all rows with the numbers of their files, or of their tables among several, None
        for one of either.
        """
        members = self.table.members or (self.table,)
        if FILE_NUMBER in self.column_names or not (
            len(members) > 1 or self.table.has_several_files
        ):
            return None
        names = [exp.to_identifier(name, quoted=True) for name in self.column_names]
        parts = []
        for number, member in enumerate(members):
            if missing := [name for name in self.column_names if member.find_column(name) is None]:
                raise InputError(
                    f"rollup: {member.label} has no {join_words(missing)}, which others of"
                    f" {self.table.label} have. Give rollups by the same columns together"
                )
            first = sql_literal(number * MAX_FILES_PER_MEMBER)
            value = exp.column(FILE_NUMBER) + first if member.has_several_files else first
            parts.append(
                member.select_columns(names, for_display=False).select(value.as_(FILE_NUMBER))
            )
        return union_all(parts)

    def _check_files(self, database: Database, rows: exp.Subquery) -> None:
        """Raise ``InputError`` for a group with rows in several files: its day was written
        twice.
        """
        keys = [name for name in self.key_columns if name.lower() != BUCKET_COLUMN]
        group_values = _find_first_group(
            database,
            rows,
            [self.find_column(name) for name in keys],
            _has_several_files(),
        )
        if group_values is not None:
            raise InputError(
                f"rollup: several files of {self.table.label} have rows of"
                f" {describe_group(keys, group_values)}, which would count twice. Leave one of them"
                " out, or give the rows of each a name of their own by batch=, if they are to be"
                " added up"
            )


def _term_sign(term: exp.Expr) -> int:
    """Return 1 for a product that is never below 0, -1 for one that is never above it, 0 for one
    that may be both: of weights, squares and probabilities.
    """
    factors = list(term.flatten()) if isinstance(term, exp.Mul) else [term]
    signs = [0 if factors.count(factor) % 2 else 1 for factor in factors]
    for index, factor in enumerate(factors):
        if isinstance(factor, exp.Abs) or factor == exp.column("weight"):
            signs[index] = 1
        elif isinstance(factor, exp.Ln) and _is_below_one(factor.this):
            signs[index] = -1
    return math.prod(signs)


def _is_below_one(tree: exp.Expr) -> bool:
    """Return True for a CASE that clips its value at one less something: ``WHEN x >= 1 - 1e-9 THEN
    1 - 1e-9``.
    """
    return isinstance(tree, exp.Case) and any(
        isinstance(branch.this, exp.GTE)
        and branch.this.this == tree.args.get("default")
        and branch.this.expression == branch.args["true"]
        and isinstance(branch.args["true"], exp.Sub)
        and branch.args["true"].this == sql_literal(1)
        for branch in tree.args["ifs"]
    )


def _all_conditions(rules: Mapping[str, Rule]) -> exp.Expr:
    return exp.and_(*(rule.condition for rule in rules.values()))


def _has_several_files() -> exp.Expr:
    """Return the condition that a group has rows of several files."""
    return exp.Min(this=exp.column(FILE_NUMBER)) < exp.Max(this=exp.column(FILE_NUMBER))


def _find_first_group(
    database: Database, rows: exp.Subquery, keys: Sequence[exp.Column], having: exp.Expr
) -> tuple[Any, ...] | None:
    """Return the keys of the first group that satisfies a condition, or None."""
    select_items = [key.as_(f"value_{index}") for index, key in enumerate(keys)] or [
        sql_literal(1).as_("one")
    ]
    query = exp.select(*select_items).from_(rows).group_by(*keys).having(having)
    groups = database.query_rows(take_first(query))
    return groups[0] if groups else None
