"""Find breaches of an analyst's style in a printed statement: nested queries, constants as columns,
needless aliases and joins.
"""

import re
from collections.abc import Iterator

from sqlglot import exp

from tests.engines.golden.expression_faults import describe_place, parse_statements, shorten_text
from tests.engines.golden.idioms import idiom_faults

_NOT_NULL = re.compile(r"\bNOT [\w.\"`]+ IS NULL")
_EQUALITY = re.compile(r" *(ON|AND) \S+ (=|IS NOT DISTINCT FROM) \S+")
"""Line with one condition of a join, which has no place to break it."""

_SENTINEL = re.compile(r"\b(THEN|ELSE)\s+214748364[67]\b")
_NESTED_SUBSTRING = re.compile(r"\bSUBSTR(?:ING)?\(\s*SUBSTR(?:ING)?\(")

_BARE_JOIN = re.compile(r"^ *JOIN ", re.MULTILINE)

DIGITS = "digits"
"""CTE of the digits, before all others in dialects that have no series of numbers."""

RANKINGS = ("run", "qrels")
"""CTEs of inputs, also where their rows are the elements of lists of another."""

ONCE = "once"
"""Alias of the subquery in a CTE that Spark computes once."""


_OF_KEYS = {"expressions", "from_", "group"}
"""Clauses of a query of distinct keys."""

LONGEST_LIMIT = 200
"""Length of a limit of an interval, without line breaks, that may stand in the last SELECT."""

WIDTH = 100
"""Longest line of a statement; the command in its header is one line."""


def find_style_faults(text: str, dialect: str) -> list[str]:
    """Return a sentence for each part of a statement that could be simpler, or has a clearer
    spelling.
    """
    found = [
        *_find_spellings(text),
        *(
            f"a line is longer than {WIDTH} characters: {line}"
            for line in text.splitlines()
            if _is_long(line)
        ),
    ]
    for statement in parse_statements(text, dialect):
        query = statement if isinstance(statement, exp.Query) else statement.args.get("expression")
        if isinstance(query, exp.Query):
            found += _find_query_faults(query, dialect)
    return found


def _is_long(line: str) -> bool:
    return (
        len(line) > WIDTH and not line.startswith("-- made by: ") and not _EQUALITY.fullmatch(line)
    )


def _find_spellings(text: str) -> Iterator[str]:
    if match := _NOT_NULL.search(text):
        yield f"{match.group()}: write IS NOT NULL"
    if _BARE_JOIN.search(text):
        yield "JOIN: write INNER JOIN"
    for match in _SENTINEL.finditer(text):
        yield f"{match.group()}: a number that stands for NULL"
    for match in _NESTED_SUBSTRING.finditer(text):
        yield f"{match.group()}: a part of a part of a text"


def _find_query_faults(query: exp.Query, dialect: str) -> Iterator[str]:
    clause = query.args.get("with_")
    ctes: list[exp.CTE] = clause.expressions if clause else []
    names = {cte.alias.lower() for cte in ctes}
    yield from _find_misplaced_inputs(ctes, names)
    yield from _find_equal_ctes(ctes)
    yield from _find_equal_columns(ctes, dialect)
    yield from _find_computed_limits(query)
    yield from idiom_faults(query, dialect)
    yield from _find_constants(ctes, query, dialect)
    for select in query.find_all(exp.Select):
        yield from _find_needless_sources(select, names)
        yield from _find_needless_key_joins(select, ctes)
        yield from _find_needless_aliases(select, names, names_joined=dialect == "clickhouse")
    inputs = [cte for cte in ctes if _is_input(cte, names) or cte.alias in RANKINGS]
    yield from _find_unfolded(query, dialect, inputs)


def _reads_ctes_only(node: exp.Expr, names: set[str]) -> bool:
    return all(not table.db and table.name.lower() in names for table in node.find_all(exp.Table))


def _find_misplaced_inputs(ctes: list[exp.CTE], names: set[str]) -> Iterator[str]:
    """Yield a sentence for each CTE of an input that stands behind others."""
    are_inputs = [_is_input(cte, names) for cte in ctes if cte.alias != DIGITS]
    first_other = [*are_inputs, False].index(False)
    ctes = [cte for cte in ctes if cte.alias != DIGITS]
    for cte, is_input in list(zip(ctes, are_inputs, strict=True))[first_other:]:
        if is_input:
            yield f"CTE {cte.alias}: an input stands behind other CTEs"


def _is_input(cte: exp.CTE, names: set[str]) -> bool:
    """Return True if a CTE reads tables of the user only, which are no functions."""
    tables = [
        table
        for table in cte.find_all(exp.Table)
        if isinstance(table.this, exp.Identifier) or table.find(exp.ReadCSV, exp.ReadParquet)
    ]
    return bool(tables) and not any(_reads_ctes_only(table, names) for table in tables)


def _find_equal_ctes(ctes: list[exp.CTE]) -> Iterator[str]:
    for index, cte in enumerate(ctes):
        for other in ctes[:index]:
            if cte.this == other.this and not cte.this.find(exp.Rand):
                yield f"CTE {cte.alias}: the same as {other.alias}"


def _find_equal_columns(ctes: list[exp.CTE], dialect: str) -> Iterator[str]:
    """Yield a sentence for each column of a CTE that is another one of it; inputs have the columns
    that they are asked for.
    """
    for cte in ctes:
        if (
            not isinstance(cte.this, exp.Select)
            or cte.find(exp.Rand)
            or not cte.this.args.get("from_")
        ):
            continue
        first: dict[exp.Expr, str] = {}
        for item in cte.this.expressions:
            value = item.unalias()
            if _is_number(value) or isinstance(value, exp.Null) or item.is_star:
                continue
            # Where nothing is weighted, the number of rows is their weight, too.
            if value in first and not {item.alias_or_name, first[value]} & {
                "num_rows",
                "num_predictions",
            }:
                yield (
                    f"CTE {cte.alias}, column {item.alias_or_name}: {shorten_text(value, dialect)}"
                    f" is {first[value]}, too"
                )
            first.setdefault(value, item.alias_or_name)


def _find_computed_limits(query: exp.Query) -> Iterator[str]:
    """Yield a sentence for each limit of an interval that is computed in the last SELECT, which has
    names and short terms.
    """
    for item in query.selects if isinstance(query, exp.Select) and query.args.get("with_") else ():
        computed = (
            []
            if not item.alias_or_name.endswith(("_ci_low", "_ci_high"))
            else item.find_all(exp.Add, exp.Sub, exp.Mul, exp.Div)
        )
        if not all(_is_in_condition(node) for node in computed) and len(item.sql()) > LONGEST_LIMIT:
            yield (
                f"the outermost SELECT, column {item.alias_or_name}: is computed in the last SELECT"
            )


def _is_in_condition(node: exp.Expr) -> bool:
    """Return True for a part of a condition of CASE."""
    branch = node.find_ancestor(exp.If)
    return branch is not None and any(part is node for part in branch.this.walk())


def _find_constants(ctes: list[exp.CTE], query: exp.Expr, dialect: str) -> Iterator[str]:
    """Yield a sentence for each column of a CTE that is the same number in every row, and no key of
    a reader.
    """
    for cte in ctes:
        members = _list_members(cte.this)
        for index, name in enumerate(cte.this.named_selects):
            values = [
                member.expressions[index].unalias()
                for member in members
                if len(member.expressions) > index
            ]
            if not all(_is_number(value) and value == values[0] for value in values) or len(
                values
            ) < len(members):
                continue
            if len(cte.this.named_selects) > 1 and not any(
                _is_key(column) for column in query.find_all(exp.Column) if column.name == name
            ):
                yield f"CTE {cte.alias}, column {name}: always {shorten_text(values[0], dialect)}"


def _list_members(query: exp.Expr) -> list[exp.Expr]:
    return (
        [*_list_members(query.this), *_list_members(query.expression)]
        if isinstance(query, exp.SetOperation)
        else [query]
    )


def _is_number(node: exp.Expr) -> bool:
    inner = node.this if isinstance(node, exp.Cast) else node
    return isinstance(inner, exp.Literal) and inner.is_number


def _is_key(column: exp.Column) -> bool:
    """Return True if a column is a key, or may be NULL after an outer join."""
    if (
        isinstance(column.parent, (exp.Group, exp.Ordered))
        or column.arg_key == "partition_by"
        or column.find_ancestor(exp.Join)
    ):
        return True
    select = column.find_ancestor(exp.Select)
    return bool(select and any(join.side for join in select.args.get("joins") or []))


def _find_needless_sources(select: exp.Select, names: set[str]) -> Iterator[str]:
    """Yield a sentence for each subquery of CTEs, needless alias, and outer join of every row."""
    joins = select.args.get("joins") or []
    sources = [clause.this for clause in [select.args.get("from_"), *joins] if clause]
    tables = [source.name.lower() for source in sources if isinstance(source, exp.Table)]
    for source in sources:
        if (
            isinstance(source, exp.Subquery)
            and source.alias != ONCE
            and _reads_ctes_only(source, names)
        ):
            yield f"{describe_place(source)}: subquery {source.alias} is no CTE"
        elif (
            tables.count(source.name.lower()) == 1
            and source.name.lower() in names
            and source.alias not in {"", source.name}
        ):
            yield f"{describe_place(source)}: {source.name} is called {source.alias}"
    for join in joins:
        if join.side and isinstance(join.args.get("on"), exp.Boolean):
            yield f"{describe_place(join)}: LEFT JOIN {join.this.alias_or_name} ON TRUE"


def _find_needless_key_joins(select: exp.Select, ctes: list[exp.CTE]) -> Iterator[str]:
    """Yield a sentence for each inner join with the distinct keys of a table that is read
    anyway.
    """
    queries = {cte.alias: cte.this for cte in ctes}
    joins = select.args.get("joins") or []
    sources = {clause.this.name for clause in [select.args.get("from_"), *joins] if clause}
    for join in joins:
        query, on = queries.get(join.this.name), join.args.get("on")
        if (
            join.side
            or on is None
            or not isinstance(query, exp.Select)
            or {key for key, value in query.args.items() if value} != _OF_KEYS
        ):
            continue
        keys = {item.alias_or_name for item in query.expressions if isinstance(item, exp.Column)}
        compared = {column.name for column in on.find_all(exp.Column)}
        tables = {column.table for column in on.find_all(exp.Column)} - {join.this.alias_or_name}
        if (
            len(keys) == len(query.expressions)
            and keys == compared
            and tables == {query.args["from_"].this.name} <= sources
        ):
            yield (
                f"{describe_place(join)}: INNER JOIN {join.this.name} has the keys of a table that"
                " is read"
            )


def _find_needless_aliases(
    select: exp.Select, names: set[str], names_joined: bool
) -> Iterator[str]:
    """Yield a sentence for each alias that repeats a column, and each table before a column where
    one is read.

    ``names_joined``: the dialect calls a column of a join by its table, too, unless it has an
    alias.
    """
    for item in [] if names_joined and select.args.get("joins") else select.expressions:
        if (
            isinstance(item, exp.Alias)
            and isinstance(item.this, exp.Column)
            and item.this.this == item.args["alias"]
        ):
            yield f"{describe_place(item)}: {item.this.sql()} AS {item.alias}"
    source = select.args["from_"].this if select.args.get("from_") else None
    if (
        isinstance(source, exp.Table)
        and source.name.lower() in names
        and not select.args.get("joins")
    ):
        results = {item.alias for item in select.expressions if isinstance(item, exp.Alias)}
        for column in select.find_all(exp.Column):
            is_row = (
                column.name == column.table
            )  # the name of a table alone is a whole row to BigQuery
            if (
                column.table
                and column.find_ancestor(exp.Select) is select
                and column.name not in results
                and not (column.is_star or is_row)
            ):
                yield f"{describe_place(column)}: {column.sql()} names the only table"


def _find_unfolded(query: exp.Expr, dialect: str, inputs: list[exp.CTE]) -> Iterator[str]:
    """Yield a sentence for each computation whose result can be written at once; inputs turn -0.0
    into 0.0.
    """
    for node in query.find_all(exp.Mul, exp.Add, exp.Sub, exp.Nullif, exp.Case):
        operands = (
            [node.this, node.expression] if isinstance(node, (exp.Binary, exp.Nullif)) else []
        )
        numbers = [
            operand.this if isinstance(operand, exp.Literal) and operand.is_number else None
            for operand in operands
        ]
        neutral = "1" if isinstance(node, exp.Mul) else "0"
        is_neutral = numbers[-1:] == [neutral] or (
            isinstance(node, (exp.Mul, exp.Add)) and numbers[:1] == [neutral]
        )
        is_integer = all(number is not None and number.isdigit() for number in numbers)
        if isinstance(node, exp.Case):
            if not node.args["ifs"]:
                yield f"{describe_place(node)}: {shorten_text(node, dialect)} has no condition"
        elif isinstance(node, exp.Nullif):
            if numbers[0] not in {None, "0"}:
                yield f"{describe_place(node)}: {shorten_text(node, dialect)} is {numbers[0]}"
        elif (is_neutral or is_integer) and node.find_ancestor(exp.CTE) not in inputs:
            yield f"{describe_place(node)}: {shorten_text(node, dialect)} is not computed"
