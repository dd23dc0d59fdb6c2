"""Declare the record of a SQL dialect: capabilities of its engine, and its forms of expressions
that others write in another way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlglot import exp

    from sqlrank.rendering.dialect_forms import ListJoin

Rewrite = Callable[["exp.Expr"], object]
"""A rewrite of a tree in place."""

ListOperations = Mapping[str, "Callable[..., exp.Expr] | str"]
"""Writers of operations on lists by name, or the functions that do the same; ``min`` and ``sum``
are of lists of positive numbers.
"""


def keep_nodes(*_: object) -> None:
    """Leave nodes as the SQL files have them."""


@dataclass(frozen=True, kw_only=True)
class TableFunctionForm:
    """Texts of a function of tables."""

    create: tuple[str, ...]
    """Statements that create it, with fields such as ``{query}``."""
    drop: str
    """Statement that drops it."""
    call: str
    """Call with all its parameters."""
    source: str
    """FROM item of an input, by ``{role}`` and its ``{place}``."""
    group: str
    """Column of the group, if the input has none."""
    declaration: str = ""
    """Declaration of a variable of an input with groups, by ``{role}`` and a ``{column}`` of it."""
    parameter: str
    """Reference to a parameter, by ``{name}`` and its ``{place}``."""
    argument: str = ""
    """Declaration of a table."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Types of the columns of a table in its declaration, by type of a column; ``key`` is that of
    ids and groups.
    """
    number: str = ""
    """Declaration of a parameter, with ``{default}`` in that of one that has a default."""
    default: str = ""
    """Text of a default."""
    group_argument: str = ""
    """Declaration of the parameter of the group."""
    checks_argument: str = ""
    """Declaration of the parameter that is false if rows are not checked, if it can have a
    default.
    """
    passed: str = "{name}"
    """A table or number in a call, by ``{name}`` and its ``{value}``."""
    text_type: str = "TEXT"
    """Type of groups and ids in the result."""
    number_type: str = "DOUBLE"
    """Type of metrics in the result."""
    types: tuple[str, str, str, str] = ("", "", "", "")
    """Types of tables, numbers, the group and ``checks``, by which functions of one name are told
    apart.
    """
    escape_query: Callable[[str], str] = str
    """Escape of the query in the text that creates the function."""
    prefixes_schema: bool = False
    """The schema is a prefix of the name."""


@dataclass(frozen=True, kw_only=True)
class FunctionForms:
    """Texts of functions of metrics, which are macros where there is no form of functions of
    tables.
    """

    version: str
    """Statement that creates the function ``{name}``, which returns ``{version}``."""
    version_arguments: str = ""
    """Text behind its name where it is dropped."""
    group: tuple[str, str]
    """Parameter, or column, by which a function of tables groups ``{inputs}``, and its
    description.
    """
    table: TableFunctionForm | None = None
    """Texts of functions of tables."""
    aggregate: str | None = None
    """Statement that creates an aggregate, where functions of SQL can be one."""
    list: tuple[str, ...] = ()
    """Statements that create a function of lists and its comment, of parts that are written as
    trees.
    """
    list_types: tuple[str, str] = ("", "")
    """Types of parameters that are lists, and of cut-offs, where functions declare them."""
    list_operations: ListOperations = field(default_factory=dict)
    """Writers of the operations of functions of lists."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Dialect:
    """Capabilities and forms of a SQL dialect; those without a default are what no engine shares
    with all others.
    """

    # Names

    label: str
    """Name of the engine in headers of statements."""
    sqlglot_name: str
    """Name of the dialect in sqlglot."""
    aliases: tuple[str, ...] = ()
    """Other names, in lower case."""
    drivers: tuple[str, ...] = ()
    """Python packages whose connections are to such an engine."""

    # The form that every dialect has to choose

    write_list_elements: Callable[[ListJoin], None] | None
    """Rewrite of the join of a list column with its elements and their positions; None where there
    is none.
    """

    # Forms that differ from the portable ones

    rewrite: Rewrite | None = None
    """Rewrite of a whole tree in place of the portable forms of numbers, NaN and NULL."""
    prepare: Rewrite = keep_nodes
    """Own rewrite before the portable forms."""
    finish: Rewrite = keep_nodes
    """Own rewrite after the portable forms."""
    write_quantile: Callable[[exp.Expr, exp.Expr], exp.Expr | None] | None = None
    """The exact, interpolated quantile of a value at a share in each group, else a sum over rows
    that are numbered by value.
    """
    write_series: Callable[[exp.Expr, exp.Unnest], object] | None = None
    """Rewrite of a series of integers in a tree, else a cross join of digits."""
    write_hex_number: Callable[[exp.Expr], exp.Expr | None] | None = None
    """The integer of eight hexadecimal digits, else a sum of the digits, each times a power of
    16.
    """
    write_words: Callable[[exp.Expr], exp.Expr] | None = None
    """The list of the words of a text in lower case, else REGEXP_EXTRACT_ALL by the pattern of the
    file.
    """
    join_words: Callable[[exp.Expr, exp.Expr, exp.Expr], exp.Expr] | None = None
    """The text of a number of elements of a list from a position on, with blanks between them, else
    ARRAY_TO_STRING of a slice.
    """
    function_names: Mapping[type[exp.Expr], str] = field(default_factory=dict)
    """Names of functions that have others elsewhere."""
    composing_function: str | None = None
    """Function that writes a text in the normalized form NFC of Unicode."""
    character: str = "CHR({code})"
    """The call that gives a character, by its number or by its bytes in hexadecimal digits,
    ``{bytes}``.
    """
    join_texts: Callable[[Sequence[str]], str] = " || ".join
    """Expression of several texts joined, for those in which characters are calls."""
    has_nan: bool = True
    """Doubles may be NaN."""
    nan_function: str | None = None
    """Function that tests for NaN, if NaN does not equal itself."""
    infinity: str | None = None
    """Expression of infinity, if text cannot be cast to it."""
    map_functions: tuple[str, str] = ("MAP_KEYS", "MAP_VALUES")
    """Functions of the keys and of the values of a map."""
    table_properties: exp.Properties | None = None
    """Properties of new tables."""

    # Names and syntax

    fold_identifier: Callable[[str], str] = str
    """Case folding of unquoted identifiers; identity where names match in any case (and in
    ClickHouse).
    """
    name_after_in: str = "table"
    """Meaning of a name on the right of IN: ``table``, ``bracketed_table`` if it is one also in
    brackets, or ``list`` for a column of lists.
    """
    calls_functions_by_fields: bool = False
    """A field of a value in brackets may be a function: (x).f is f(x)."""
    reserved_words: frozenset[str] = frozenset()
    """Words in lower case that are quoted as names, beside those that sqlglot quotes."""
    supports_from_first: bool = False
    """A query may begin with FROM."""
    supports_window_clause: bool = True
    """Windows are named in a WINDOW clause."""
    searches_from_items: bool = False
    """sqlglot searches the items of FROM for arrays, which it cannot in the text of a user's
    query.
    """

    file_nodes: tuple[type[exp.Expr], ...] = ()
    """Further nodes of sqlglot that SQL files may hold which are for this engine alone (``--
    Engines: duckdb``).
    """
    file_functions: tuple[str, ...] = ()
    """Functions without a node of their own that such files may call."""

    # Numbers and texts

    int_division_is_double: bool = False
    """Division of integers gives a double."""
    decimal_literals_are_double: bool = False
    """The literal 0.5 is a double."""
    exponent_literals_are_double: bool = False
    """The literal 5e-1 is a double, as it is where 0.5 is one."""
    floor_returns_double: bool = True
    """FLOOR of a double is a double."""
    is_dynamically_typed: bool = False
    """Columns have no type (dynamic typing)."""
    distinguishes_zeros: bool = False
    """-0.0 and 0.0 are grouped, joined or sorted as two values."""
    supports_float32: bool = True
    """Single-precision numbers exist."""
    supports_md5: bool = True
    """MD5 is supported."""
    supports_row_hash: bool = False
    """HASH of several columns is supported; sorting hashes is faster than grouping texts."""
    supports_collations: bool = False
    """Text is compared by a collation of the database unless COLLATE "C" demands bytes."""
    supports_jsonb: bool = False
    """JSONB and its functions are supported; a list may be such a column, or one of JSON."""
    lists_are_json: bool = False
    """A list is a text, a JSON array."""

    # Planning

    is_distributed: bool = False
    """A window over all rows runs on a single worker of many."""
    write_window_bucket: Callable[[exp.Expr], exp.Expr] | None = None
    """Bucket of a number, where a window over all rows moves them to that worker: totals are joined
    there, and what is sorted is split by such buckets.
    """
    computes_ctes_once: bool = False
    """A CTE with several readers is computed once unless it is NOT MATERIALIZED."""
    repeats_expressions: bool = False
    """An expression that several aggregates have in common is computed for each, and a CTE that is
    computed once has no statistics.
    """
    write_materialized: Callable[[exp.Query], exp.Query] | None = None
    """A CTE in a form that is computed once, where the engine computes each again for each reader.

    If neither this nor ``computes_ctes_once`` holds, statements rely on no behavior, and only mark
    CTEs where a server has a setting.
    """
    write_fence: Rewrite | None = None
    """Rewrite of a CTE whose expressions the planner would put into its reader many times, where
    there is no MATERIALIZED.
    """
    materialization_query: exp.Select | None = None
    """Query with a row if the server materializes CTEs that are marked; older versions do not. None
    where there is no such server.
    """
    computes_sources_once: bool = False
    """A query given as a source is computed once, so that it may draw random rows."""
    prefers_integer_keys: bool = False
    """Lists are joined and sorted faster by integers, at the cost of a window that numbers them."""
    plans_by_statistics: bool = False
    """The planner's thresholds were measured on this engine, and statistics of its tables take
    little time.
    """
    statistics_ignore_nan: bool = False
    """Comparisons are answered from the statistics of files, which ignore NaN."""

    # Databases

    supports_file_readers: bool = False
    """FROM reads files."""
    supports_create_or_replace_table: bool = True
    """CREATE OR REPLACE TABLE is supported; in Spark and Trino it depends on the catalog."""
    supports_create_or_replace_view: bool = True
    """CREATE OR REPLACE VIEW is supported."""
    supports_delete: bool = True
    """DELETE is supported."""
    supports_transactions: bool = False
    """Transactions are atomic."""
    uses_savepoints: bool = False
    """A failed statement ends the transaction unless a savepoint precedes it."""
    disabled_setting: str | None = None
    """Setting that is off during a call."""
    type_query: Callable[[exp.Query, Sequence[exp.Column]], exp.Select] | None = None
    """Query for the types of the columns of a query, where drivers do not report them."""
    shadowing_query: str | None = None
    """File in ``sql/inputs`` with a query for functions of users that would be called in place of
    the engine's.
    """

    # Functions of users, and dbt

    functions: FunctionForms | None = None
    """Texts of functions of metrics."""
    supports_function_schemas: bool = True
    """Functions of users are in schemas."""
    error_function: str | None = None
    """Function that ends a statement with the text in its message; without one a cast of the text
    to BOOLEAN does.
    """
    error_function_converts: bool = False
    """That function converts a text, and so has a type, which is not BOOLEAN."""
    has_dbt_macros: bool = False
    """The dbt package has macros for its adapter."""
    dbt_deletes_and_inserts: bool = False
    """Its dbt adapter supports the ``delete+insert`` strategy."""
    dbt_microbatch: str | None = None
    """Configuration for its dbt adapter to replace a whole batch of the day ``{0}``, None if it
    does not.
    """

    @property
    def supports_table_macros(self) -> bool:
        """True if functions are macros, which take tables, and parameters with defaults."""
        return self.functions is not None and self.functions.table is None

    @property
    def recomputes_ctes(self) -> bool:
        """True if a CTE is computed again for each reader, unless it is written otherwise."""
        return self.write_materialized is not None

    def list_reserved_words(self) -> frozenset[str]:
        """Return the words in lower case that are quoted as names."""
        return self.reserved_words | {
            word.lower() for word in self.sqlglot.generator_class.RESERVED_KEYWORDS
        }

    def write_character(self, character: str) -> str:
        """Return the call that gives a character."""
        digits = character.encode(errors="surrogatepass").hex().upper()
        return self.character.format(code=ord(character), bytes=digits)

    @cached_property
    def default_nulls_first(self) -> dict[bool, bool]:
        """Default NULLS FIRST behavior by whether the order is descending."""
        order: Any = self.sqlglot.NULL_ORDERING
        return {False: order == "nulls_are_small", True: order == "nulls_are_large"}

    @cached_property
    def sqlglot(self) -> Any:
        """The reader and writer of sqlglot."""
        # Names of dialects are listed without it
        from sqlrank.sql_ast import load_dialect

        return load_dialect(self.sqlglot_name)
