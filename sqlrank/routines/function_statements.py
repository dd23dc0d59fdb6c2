"""Write the statements that create functions of tables, aggregates and lists in a database, with
checks of their rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, lru_cache, reduce
from typing import TYPE_CHECKING, Literal, cast

from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.compiler.select_builders import cast_double, symbolic_parameter
from sqlrank.engines.query_sources import fold_column_name
from sqlrank.errors import MetricError, suggest_choice
from sqlrank.registry.sql_file import SqlFile
from sqlrank.registry.sql_folder import sql_root
from sqlrank.rendering.dialect_forms import rewrite_list_operations
from sqlrank.rendering.dialects import DIALECTS, get_dialect
from sqlrank.rendering.formatter import format_tree
from sqlrank.rendering.optimizer.statement_graph import is_aggregated
from sqlrank.rendering.renderer import rewrite_for_dialect
from sqlrank.routines import DEFAULT_SCHEMA, FUNCTION_DIALECTS
from sqlrank.routines.symbolic_statement import (
    CTE_PREFIX,
    GROUP_COLUMN,
    GROUP_PARAMETER,
    SOURCE_GROUP_COLUMN,
    InputChecks,
    RoutineParameter,
    SymbolicStatement,
    build_table_query,
    sort_parameters,
    source_table,
    with_symbolic_columns,
)
from sqlrank.sql_ast import (
    call_function,
    case_when,
    count_rows,
    find_nodes,
    is_null,
    replace_columns,
    sql_literal,
    union_all,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlrank.rendering.dialect import FunctionForms, TableFunctionForm


CHECKS_PARAMETER = "checks"
"""Parameter of a table function, false if rows are not checked."""

PROBLEMS, CHECK = f"{CTE_PREFIX}problems", f"{CTE_PREFIX}check"
"""Steps of a table function: one row per wrong row of its inputs, and one that ends the query with
an error if there are any.
"""


@lru_cache(maxsize=256)
def _build_problem_queries(
    role: str,
    checks: InputChecks,
    source: str,
    group: str | None,
    dialect: str,
    checks_parameter: exp.Expr | None,
) -> tuple[exp.Select, ...]:
    """Return queries over the rows of an input, with a row for each that is wrong: beginning of a
    message that ends with their number.

    Copy the queries before you use them.

    Args:
        role: The input.
        checks: Its checks.
        source: The step that reads it.
        group: The column of the group, if the step has it.
        dialect: SQL dialect.
        checks_parameter: Reference to the parameter ``CHECKS_PARAMETER``, if the function has it.
    """
    queries: list[exp.Select] = []
    wrong = {
        checks.rules.meanings[name]: condition
        for name, condition in checks.rules.conditions.items()
        if not (checks.drops_nulls and isinstance(condition, exp.Is))
    }
    conditions = [] if checks_parameter is None else [checks_parameter]
    if wrong:
        columns = [
            *(cast_double(exp.column(name)).as_(name) for name in checks.numbers),
            *map(exp.column, checks.keys),
        ]
        rows = exp.select(*columns).from_(source).where(*conditions)
        branches = [
            exp.If(this=condition, true=sql_literal(meaning))
            for meaning, condition in wrong.items()
        ]
        message = _concatenate_texts(
            [sql_literal(f"{role}: "), exp.Case(ifs=branches), sql_literal(" (rows: ")]
        )
        is_wrong = exp.or_(
            *wrong.values()
        )  # which takes less time than to name the problem of each row
        queries.append(exp.select(message).from_(rows.subquery(role)).where(is_wrong))
    if checks.unique:
        keys = [exp.column(name) for name in (*([group] if group else []), *checks.unique)]
        message = sql_literal(f"{role}: {checks.duplicates} (keys: ")
        queries.append(
            exp.select(message)
            .from_(source)
            .where(*conditions)
            .group_by(*keys)
            .having("COUNT(*) > 1")
        )
    return tuple(cast("exp.Select", rewrite_for_dialect(query, dialect)) for query in queries)


def _find_range_problems(
    parameters: Sequence[RoutineParameter], refer_to: Callable[[str], exp.Expr]
) -> list[exp.Case]:
    """Return the message on each parameter with a range, which is NULL if its value is in range."""
    problems = []
    for parameter in parameters:
        declared = parameter.declared
        if declared is None:
            continue
        value = refer_to(parameter.name)
        low, high = sql_literal(declared.low), sql_literal(declared.high)
        is_above_low = value > low if declared.excludes_low else value >= low
        conditions: list[exp.Expr] = [
            is_above_low,
            value <= high,
        ]  # also false for NaN, which is greater than all or nothing
        if declared.type == "integer":
            conditions.append(value.eq(exp.Floor(this=value)))
        value_text = exp.Coalesce(this=exp.cast(value, "TEXT"), expressions=[sql_literal("NULL")])
        message = _concatenate_texts(
            [
                sql_literal(f"{parameter.name} is "),
                value_text,
                sql_literal(f". It must be {declared.limited_range_text}"),
            ]
        )
        problems.append(case_when(exp.and_(*conditions), exp.null(), message))
    return problems


def refuse_ranges(
    value: exp.Expr, parameters: Sequence[RoutineParameter], dialect: str
) -> exp.Expr:
    """Return an expression with symbolic parameters that ends the query with an error if one of
    them is out of range.
    """
    for problem in _find_range_problems(parameters, symbolic_parameter):
        if _converts_errors(
            dialect
        ):  # some engines evaluate the conversion even if the parameter is in range
            value = case_when(exp.Not(this=_raise_error(problem, dialect)), value)
        else:
            raised = _raise_error(problem.args["default"], dialect)
            value = case_when(problem.args["ifs"][0].this, value, raised)
    return value


def refuse_rows(value: exp.Expr, role: str, checks: InputChecks, dialect: str) -> exp.Expr:
    """Return an aggregate of symbolic parameters that ends the query with an error if rows are
    wrong, of which those that policies drop count nothing.
    """
    wrong = {
        checks.rules.meanings[name]: condition
        for name, condition in checks.rules.conditions.items()
    }
    if checks.drops_nulls:
        nulls = [condition for condition in wrong.values() if isinstance(condition, exp.Is)]
        wrong = {meaning: each for meaning, each in wrong.items() if each not in nulls}
        read = {node.name for node in find_nodes(value, exp.Parameter)}
        present = [exp.not_(each.copy()) for each in nulls if each.this.name in read]
        for node in find_nodes(value, exp.Parameter):
            if node.name == "weight" and present:
                node.replace(case_when(exp.and_(*present), node.copy()))
    branches = [
        exp.If(this=condition.copy(), true=sql_literal(f"{role}: {meaning}"))
        for meaning, condition in wrong.items()
    ]
    if not branches:
        return value
    problem: exp.Expr = exp.Min(this=exp.Case(ifs=branches))
    if not _converts_errors(dialect):
        value = case_when(is_null(problem), value, _raise_error(problem.copy(), dialect))
    else:
        value = case_when(exp.Not(this=_raise_error(problem, dialect)), value)
    return with_symbolic_columns(value, checks.numbers)


def _converts_errors(dialect: str) -> bool:
    """Return True if an error is raised by a conversion of its text."""
    facts = get_dialect(dialect)
    return facts.error_function is None or facts.error_function_converts


def _raise_error(message: exp.Expr, dialect: str) -> exp.Expr:
    """Return an expression that raises an error with a message; where it converts the message, it
    is false for NULL.
    """
    facts, is_converted = get_dialect(dialect), _converts_errors(dialect)
    raised: exp.Expr = (
        exp.Coalesce(this=message, expressions=[sql_literal("0")]) if is_converted else message
    )
    if facts.error_function is not None:
        raised = call_function(facts.error_function, raised)
    return exp.cast(raised, "BOOLEAN") if is_converted else raised


def _build_check(has_rows: bool, ranges: Sequence[exp.Case], dialect: str) -> exp.Select:
    """Return the query whose column ``is_valid`` is true, and which raises an error if there are
    wrong rows in the step of problems, or numbers out of range.
    """
    number = exp.cast(count_rows(), "TEXT")
    message = _concatenate_texts([exp.column("problem"), number, sql_literal(")")]).as_("message")
    messages = [exp.select(message).from_(PROBLEMS).group_by("problem")] if has_rows else []
    messages += [exp.select(problem.as_("message")) for problem in ranges]
    raised = _raise_error(exp.Min(this=exp.column("message")), dialect)
    has_problem = exp.Count(this=exp.column("message")) > 0
    is_valid = case_when(has_problem, raised, exp.true())
    query = exp.select(is_valid.as_("is_valid")).from_(union_all(messages).subquery("messages"))
    return cast("exp.Select", rewrite_for_dialect(query, dialect))


def add_checks(
    query: exp.Select,
    symbolic: SymbolicStatement,
    dialect: str,
    refer_to: Callable[[str], exp.Expr],
    checks_parameter: exp.Expr | None,
) -> None:
    """Add the steps that check parameters, and rows of inputs if ``checks_parameter``, to a query
    in place, and make it read their result.
    """
    if not symbolic.checks:
        return
    problems = [
        problem.copy()
        for role, checks in symbolic.checks.items()
        if role in symbolic.read_columns  # inputs that are not read are derived from one that is
        for problem in _build_problem_queries(
            role,
            checks,
            CTE_PREFIX + source_table(role),
            symbolic.find_group_column(role),
            dialect,
            checks_parameter,
        )
    ]
    ranges = _find_range_problems(symbolic.parameters, refer_to)
    if not problems and not ranges:
        return
    steps: list[tuple[str, exp.Query]] = []
    if problems:
        problems[0].set("expressions", [problems[0].selects[0].as_("problem")])
        steps.append((PROBLEMS, union_all(problems)))
    for name, step in [*steps, (CHECK, _build_check(bool(problems), ranges, dialect))]:
        query.args["with_"].append(
            "expressions", exp.CTE(this=step, alias=exp.TableAlias(this=exp.to_identifier(name)))
        )
    # The compiled sqlglot joins conditions, and a subquery by itself is none for it.
    condition = exp.paren(exp.select("is_valid").from_(CHECK), copy=False)
    is_aggregate = query.args.get("group") is not None or any(map(is_aggregated, query.selects))
    (query.having if is_aggregate else query.where)(
        condition, copy=False
    )  # once per group, and not for each of the rows


def _concatenate_texts(texts: Sequence[exp.Expr]) -> exp.Expr:
    return reduce(lambda text, following: exp.DPipe(this=text, expression=following), texts)


UNQUOTED_SCHEMAS = (DEFAULT_SCHEMA, "main")
"""Schemas that need no quotes; another may be a keyword of one engine."""

COMMENT_END = "Function of sqlrank"
"""Beginning of the last sentence of comments, by which functions are recognized."""

RoutineKind = Literal["table", "aggregate", "list"]
"""Kinds of functions: of tables in FROM, of the rows of a group, and of the lists in one row."""


@dataclass(frozen=True)
class RoutineFacts:
    """Facts of a function that do not depend on a dialect.

    Attributes:
        name: Name in its schema.
        kind: Kind of function.
        inputs: The inputs whose tables it takes, or whose columns it aggregates.
        metrics: The metrics that it computes; a cut-off that is a parameter is an example.
        comment: Its documentation.
    """

    name: str
    kind: RoutineKind
    inputs: tuple[str, ...]
    metrics: tuple[str, ...]
    comment: str


@dataclass(frozen=True)
class Routine:
    """A function of a database.

    Attributes:
        facts: Name, kind, inputs, metrics and comment.
        signature: Call with all parameters, as in ``ndcg(run, qrels, k := 10)``.
        create: Statements that create it.
        drop: Statements that drop it.
    """

    facts: RoutineFacts
    signature: str
    create: tuple[str, ...]
    drop: tuple[str, ...]


def quote_schema(schema: str, dialect: str) -> exp.Identifier:
    """Return the identifier of a schema, in quotes unless it is known to be a keyword nowhere.

    >>> quote_schema("select", "snowflake").sql("snowflake"), quote_schema(
    ...     "sqlrank", "snowflake"
    ... ).sql("snowflake")
    ('"SELECT"', 'sqlrank')
    """
    is_known = schema in UNQUOTED_SCHEMAS
    return exp.to_identifier(
        schema if is_known else fold_column_name(schema, dialect), quoted=not is_known
    )


def qualify_function(schema: str, name: str, dialect: str, *, is_prefix: bool = False) -> exp.Table:
    """Return the name of a function in a schema, which is a prefix of the name if the dialect has
    no schemas of functions.

    >>> qualify_function("two words", "ndcg", "duckdb").sql("duckdb"), qualify_function(
    ...     "sqlrank", "ndcg", "clickhouse"
    ... ).sql("clickhouse")
    ('"two words".ndcg', 'sqlrank_ndcg')
    """
    if is_prefix or not get_dialect(dialect).supports_function_schemas:
        return exp.Table(this=exp.to_identifier(f"{schema}_{name}"))
    return exp.Table(this=exp.to_identifier(name), db=quote_schema(schema, dialect))


def document_routine(
    description: str, parameters: Iterable[RoutineParameter], *sentences: str
) -> str:
    """Return the comment of a function: a description, its parameters, further sentences, and the
    version.
    """
    lines = [f"{parameter.name}: {parameter.about.rstrip('.')}." for parameter in parameters]
    return " ".join(
        [description, *lines, *filter(None, sentences), f"{COMMENT_END} {__version__}."]
    )


LONGEST_UNGROUPED = 6_000
"""Most characters of a second query for calls without a group, so that the script of all functions
stays below 1.5 MB.
"""


def create_table_macro(
    schema: str,
    facts: RoutineFacts,
    symbolic: SymbolicStatement,
    ungrouped: SymbolicStatement | None,
) -> Routine:
    """Return the table macro of a symbolic statement, with an overload for calls without a group if
    a statement for them is given.
    """
    is_checked = (
        [exp.PropertyEQ(this=exp.to_identifier(CHECKS_PARAMETER), expression=exp.true())]
        if symbolic.checks
        else []
    )
    parameters = [*map(exp.to_identifier, facts.inputs), *_order_parameters(symbolic.parameters)]
    group = exp.to_identifier(GROUP_PARAMETER, quoted=True)
    optional_group = exp.PropertyEQ(this=group, expression=exp.null())
    query = _build_checked_query(facts, symbolic)
    returns = exp.ReturnsProperty(this=exp.Schema(this=exp.var("TABLE")), is_table=True)
    properties = exp.Properties(expressions=[returns])
    routine = _build_macro(
        schema, facts, [*parameters, optional_group, *is_checked], query, properties
    )
    if ungrouped is None:
        return routine
    query_without_groups = _build_checked_query(facts, ungrouped)
    query_without_groups.set(
        "expressions", [exp.null().as_(GROUP_COLUMN), *query_without_groups.selects]
    )
    for node in query_without_groups.walk():
        node.comments = None
    place = sum(
        isinstance(parameter, exp.Identifier) for parameter in parameters
    )  # before those with a default
    with_group = [*parameters[:place], group, *parameters[place:], *is_checked]
    target = qualify_function(schema, facts.name, "duckdb")
    signature = exp.UserDefinedFunction(
        this=target, expressions=[*parameters, *is_checked], wrapped=True
    ).sql("duckdb")
    others = exp.Tuple(expressions=with_group).sql("duckdb")
    first, second = (
        format_tree(tree, "duckdb", pretty=tree is query)[0]
        for tree in (query_without_groups, query)
    )
    if len(first) > LONGEST_UNGROUPED:
        return routine
    create = (
        f"CREATE OR REPLACE MACRO {signature} AS TABLE (\n{first}\n), {others} AS TABLE"
        f" (\n{second}\n)"
    )
    return replace(routine, create=(create, *routine.create[1:]))


def _build_checked_query(facts: RoutineFacts, symbolic: SymbolicStatement) -> exp.Select:
    """Return the query of a table macro, which first checks the rows of its inputs."""
    names = [
        *facts.inputs,
        *(parameter.name for parameter in symbolic.parameters),
        CHECKS_PARAMETER,
        GROUP_PARAMETER,
    ]
    query = build_table_query(
        symbolic,
        "duckdb",
        lambda role: _read_source(role, symbolic.find_group_column(role)),
        _reference_parameter,
        names,
    )
    _qualify_columns(query, facts.inputs)
    add_checks(query, symbolic, "duckdb", _reference_parameter, exp.column(CHECKS_PARAMETER))
    for cte in query.args["with_"].expressions:
        if cte.alias in {
            PROBLEMS,
            CHECK,
        }:  # each on a line, so that the script of all functions stays below 1.5 MB
            cte.set("this", exp.var(format_tree(cte.this, "duckdb", pretty=False)[0]))
    return query


def _qualify_columns(query: exp.Select, roles: Sequence[str]) -> None:
    """Qualify the columns of the passed tables in place where they get their types, since DuckDB
    takes one that is missing for its own alias.
    """
    sources = {CTE_PREFIX + source_table(role): role for role in roles}
    for select in find_nodes(query, exp.Select):
        table = select.args["from_"].this
        if table.name not in sources or select.args.get("joins"):
            continue
        for item in select.selects:
            column = item.unalias().this if isinstance(item.unalias(), exp.Cast) else None
            if isinstance(column, exp.Column) and not column.table:
                column.set("table", exp.to_identifier(sources[table.name]))
                table.set("alias", exp.TableAlias(this=exp.to_identifier(sources[table.name])))


def _read_source(role: str, group: str | None) -> exp.Select:
    """Return the query that reads the table that is passed for a role, with the column of the group
    if it has it.

    That column is the first, because DuckDB reads the first of two columns of one name.
    """
    groups = [] if group is None else [_reference_parameter(GROUP_PARAMETER).as_(group)]
    return exp.select(*groups, "*").from_(
        exp.Table(this=call_function("query_table", exp.column(role)))
    )


def _reference_parameter(parameter: str) -> exp.Column:
    return exp.column(exp.to_identifier(parameter, quoted=parameter == GROUP_PARAMETER))


def _order_parameters(parameters: Sequence[RoutineParameter]) -> list[exp.Expr]:
    """Return the declarations of parameters, those without a default first."""
    return [
        (
            exp.to_identifier(parameter.name)
            if parameter.default is None
            else exp.PropertyEQ(
                this=exp.to_identifier(parameter.name), expression=sql_literal(parameter.default)
            )
        )
        for parameter in sort_parameters(parameters)
    ]


def _build_macro(
    schema: str,
    facts: RoutineFacts,
    parameters: Sequence[exp.Expr],
    body: exp.Expr,
    properties: exp.Properties | None = None,
) -> Routine:
    target = qualify_function(schema, facts.name, "duckdb")
    function = exp.UserDefinedFunction(this=target, expressions=list(parameters), wrapped=True)
    create = exp.Create(
        this=function, kind="MACRO", replace=True, expression=body, properties=properties
    )
    kind = "MACRO TABLE" if facts.kind == "table" else "MACRO"
    name, comment = target.sql("duckdb"), sql_literal(facts.comment).sql("duckdb")
    return Routine(
        facts,
        function.sql("duckdb").replace(f' "{GROUP_PARAMETER}"', f" {GROUP_PARAMETER}"),
        (format_tree(create, "duckdb", pretty=True)[0], f"COMMENT ON {kind} {name} IS {comment}"),
        (f"DROP {kind} IF EXISTS {name}",),
    )


HELPERS = ("relevant_ranks",)
"""Files that others call, which are no functions of a database themselves."""


@cache
def load_list_functions() -> Mapping[str, SqlFile]:
    """Return the files of list functions by name."""
    paths = sorted((sql_root() / "install" / "list_functions").glob("*.sql"))
    return {path.stem: SqlFile("functions", path.stem, path) for path in paths}


def build_list_function(name: str) -> exp.Expr:
    """Return the expression of a list function, with symbolic parameters for its arguments."""
    files = load_list_functions()
    file = files[name]
    arguments: dict[str, exp.Expr] = {
        argument: symbolic_parameter(argument) for argument in file.function_arguments
    }
    return _apply_function(file, arguments, files)


def _apply_function(
    file: SqlFile, arguments: Mapping[str, exp.Expr], files: Mapping[str, SqlFile]
) -> exp.Expr:
    """Return the body of a file over arguments, with the helpers that it calls in it."""
    holder = exp.Paren(this=replace_columns(file.tree, arguments.get))
    for call in find_nodes(holder, exp.Anonymous):
        if call.name.lower() in files:
            helper = files[call.name.lower()]
            call.replace(
                _apply_function(
                    helper,
                    dict(zip(helper.function_arguments, call.expressions, strict=True)),
                    files,
                )
            )
    body: exp.Expr = holder.this
    return body


def function_forms(dialect: str) -> FunctionForms:
    """Return the texts of functions in a dialect.

    Raises:
        MetricError: The dialect has none.
    """
    forms = DIALECTS[dialect].functions if dialect in DIALECTS else None
    if forms is None:
        raise MetricError(
            suggest_choice(f"there are no functions for {dialect}", dialect, FUNCTION_DIALECTS)
        )
    return forms


def create_value_routine(
    dialect: str,
    schema: str,
    facts: RoutineFacts,
    body: exp.Expr,
    parameters: Sequence[RoutineParameter],
) -> Routine:
    """Return the function of an expression with symbolic parameters, all of which are passed: an
    aggregate of columns, or a function of lists.
    """
    value = rewrite_for_dialect(body, dialect, facts.name)
    is_macro, forms = get_dialect(dialect).supports_table_macros, function_forms(dialect)
    if facts.kind == "list" and not is_macro:
        value = cast_double(rewrite_list_operations(value, forms.list_operations))
    expression = exp.Paren(this=value)
    for node in find_nodes(expression, exp.Parameter):
        node.replace(_reference_parameter(node.name))
    if is_macro:
        return _build_macro(schema, facts, _order_parameters(parameters), expression.this)
    if facts.kind == "list":
        statements, (list_type, cutoff_type) = forms.list, forms.list_types
        types = {one.name: cutoff_type if one.name == "k" else list_type for one in parameters}
    else:
        statements = (str(forms.aggregate),)
        types = dict.fromkeys((one.name for one in parameters), "FLOAT64")
    name = qualify_function(schema, facts.name, dialect).sql(dialect)
    texts = {
        "name": name,
        "names": ", ".join(types),
        "types": ", ".join(types.values()),
        "parameters": ", ".join(
            f"{parameter} {type_name}" for parameter, type_name in types.items()
        ),
        "expression": expression.this.sql(dialect),
        "comment": sql_literal(facts.comment).sql(dialect),
    }
    return Routine(
        facts,
        f"{name}({texts['names']})",
        tuple(statement.format(**texts) for statement in statements),
        (f"DROP FUNCTION IF EXISTS {name}",),
    )


def takes_checks(dialect: str) -> bool:
    """Return True if functions of a dialect have a parameter that turns the checks of rows off;
    where it had no default, all calls would pass it.
    """
    form = function_forms(dialect).table
    return form is not None and bool(form.checks_argument)


def list_group_parameters(dialect: str, roles: Sequence[str]) -> list[RoutineParameter]:
    """Return the parameter by which rows are grouped, or the column where it is none."""
    name, about = function_forms(dialect).group
    return [RoutineParameter(name, None, about.format(inputs=" and ".join(roles)))]


def create_table_routine(
    dialect: str, schema: str, facts: RoutineFacts, symbolic: SymbolicStatement
) -> Routine:
    """Return the function of a symbolic statement.

    Raises:
        MetricError: The dialect cannot express the statement.
    """
    form, roles, parameters = (
        cast("TableFunctionForm", function_forms(dialect).table),
        list(symbolic.read_columns),
        symbolic.parameters,
    )
    is_optional = bool(symbolic.checks) and takes_checks(dialect)
    values = [
        *(parameter.name for parameter in parameters),
        *([CHECKS_PARAMETER] if is_optional else []),
    ]
    positions = {name: str(place) for place, name in enumerate(values, 1)}

    def refer_to(name: str) -> exp.Expr:
        return exp.var(form.parameter.format(name=name, place=positions[name]))

    def read_source(role: str) -> exp.Select:
        table = form.source.format(role=role, place=roles.index(role) + 1)
        group = form.group.format(role=role, last=len(roles) + 1)
        text = exp.DataType.build("text", dialect=dialect)
        groups = (
            [exp.cast(exp.var(group), text).as_(SOURCE_GROUP_COLUMN)]
            if role in symbolic.group_roles
            else []
        )
        return exp.select("*", *groups).from_(exp.Table(this=exp.var(table)))

    query = build_table_query(
        symbolic, dialect, read_source, refer_to, positions if form.parameter == "{name}" else []
    )
    _cast_columns(query, symbolic, form, facts.metrics[0])
    # The compiled sqlglot joins conditions, and a variable by itself is none for it.
    checks = exp.Column(this=refer_to(CHECKS_PARAMETER)) if is_optional else None
    add_checks(query, symbolic, dialect, refer_to, checks)
    text = format_tree(query, dialect, pretty=True)[0]
    name = qualify_function(schema, facts.name, dialect, is_prefix=form.prefixes_schema).sql(
        dialect
    )
    fields = _list_texts(dialect, form, symbolic, values, is_optional) | {
        "name": name,
        "query": form.escape_query(text),
        "quoted": sql_literal(text).sql(dialect),
        "comment": sql_literal(facts.comment).sql(dialect),
    }
    return Routine(
        facts,
        form.call.format(**fields),
        tuple(statement.format(**fields) for statement in form.create),
        (form.drop.format(**fields),),
    )


def _list_texts(
    dialect: str,
    form: TableFunctionForm,
    symbolic: SymbolicStatement,
    values: Sequence[str],
    is_optional: bool,
) -> dict[str, str]:
    """Return the texts of a function's arguments, columns and types; ``values`` are the parameters
    that its query refers to, and ``checks`` one of them if it ``is_optional``.
    """
    roles, parameters = list(symbolic.read_columns), symbolic.parameters
    fold = get_dialect(dialect).fold_identifier
    metric = str(symbolic.request.metrics[0].metric)
    takes_group = form.group != GROUP_COLUMN  # else a column of the input has that name
    arguments = [
        *(
            form.argument.format(role=role, fields=_list_fields(form, role, symbolic))
            for role in roles
        ),
        *(
            form.number.format(
                name=one.name,
                default="" if one.default is None else form.default.format(value=one.default_text),
            )
            for one in sort_parameters(parameters)
        ),
        form.group_argument,
        form.checks_argument if is_optional else "",
    ]
    return {
        "arguments": ", ".join(argument for argument in arguments if argument),
        "declarations": "".join(
            form.declaration.format(role=role, column=symbolic.read_columns[role][0])
            for role in symbolic.group_roles
        ),
        "columns": ", ".join(
            f"{exp.to_identifier(fold(column), quoted=True).sql(dialect)}"
            f" {_find_type(form, kind, metric)}"
            for column, kind in _list_columns(symbolic)
        ),
        "types": _list_types(form, len(roles), len(parameters), is_optional),
        "other_types": _list_types(form, len(roles), len(parameters), not is_optional),
        "values": ", ".join(
            [
                *_list_arguments(form, roles, parameters, takes_group),
                *([f"{CHECKS_PARAMETER} => TRUE"] if is_optional else []),
            ]
        ),
        "using": f" USING {', '.join(values)}" if values else "",
        "formatted": ", ".join(
            [
                *map(_format_table, roles),
                (
                    f"CASE WHEN \"{GROUP_PARAMETER}\" IS NULL THEN 'NULL' ELSE format('%I',"
                    f' "{GROUP_PARAMETER}") END'
                ),
            ]
        ),
    }


def _format_table(role: str) -> str:
    """Return the name of a table, where NULL is an error like those of checks."""
    name = f"CAST({role} AS text)"
    problem = f"'{role} is NULL. Name a table' || COALESCE({name}, '')"  # computed where it is read
    return f"COALESCE({name}, CAST(CAST({problem} AS boolean) AS text))"


def _list_columns(symbolic: SymbolicStatement) -> list[tuple[str, str]]:
    """Return the columns of a function with their kinds."""
    return [
        (name, output.kind)
        for name, output in zip(symbolic.columns, symbolic.statement.outputs, strict=True)
    ]


def _find_type(form: TableFunctionForm, kind: str, metric: str) -> str:
    """Return the type of a column of a kind.

    Raises:
        MetricError: It is one of a curve, whose type is that of a column of the caller.
    """
    if kind not in {"by", "query", "metric"}:
        raise MetricError(
            f"{metric} has rows of its own, whose types no function declares. Print a statement:"
            f" sqlrank sql {metric}"
        )
    return form.number_type if kind == "metric" else form.text_type


def _cast_columns(
    query: exp.Select, symbolic: SymbolicStatement, form: TableFunctionForm, metric: str
) -> None:
    """Give columns of a query their types, in place."""
    types = {form.text_type: exp.DataType.Type.TEXT, form.number_type: exp.DataType.Type.DOUBLE}
    items = zip(query.selects, _list_columns(symbolic), strict=True)
    query.set(
        "expressions",
        [
            exp.cast(item.unalias(), types[_find_type(form, kind, metric)]).as_(name)
            for item, (name, kind) in items
        ],
    )


def _list_fields(form: TableFunctionForm, role: str, symbolic: SymbolicStatement) -> str:
    """Return the columns of a table that a function takes, where it declares them."""
    if not form.fields:
        return ""
    specs = symbolic.request.roles[role].columns
    names = [
        *([GROUP_COLUMN] if role in symbolic.group_roles else []),
        *symbolic.read_columns[role],
    ]
    kinds = [specs[name].type if name in specs else "key" for name in names]
    return ", ".join(
        f"{name} {form.fields.get(kind, form.fields['key'])}"
        for name, kind in zip(names, kinds, strict=True)
    )


def _list_types(
    form: TableFunctionForm, num_tables: int, num_numbers: int, is_optional: bool
) -> str:
    """Return the types of a function's parameters, with that of ``checks`` if it ``is_optional``.

    A function without that parameter would otherwise stay beside the one with it, and no call could
    tell which it means.
    """
    table, number, group, checks = form.types
    return ", ".join(
        [table] * num_tables + [number] * num_numbers + [group] + [checks] * is_optional
    )


def _list_arguments(
    form: TableFunctionForm,
    roles: list[str],
    parameters: tuple[RoutineParameter, ...],
    takes_group: bool,
) -> list[str]:
    """Return the arguments of a call as its signature shows them."""
    tables = [form.passed.format(name=role, value=f"'{role}'") for role in roles]
    numbers = [
        form.passed.format(name=one.name, value=one.default_text or "...")
        for one in sort_parameters(parameters)
    ]
    return [
        *tables,
        *numbers,
        *([form.passed.format(name=GROUP_PARAMETER, value="'...'")] if takes_group else []),
    ]
