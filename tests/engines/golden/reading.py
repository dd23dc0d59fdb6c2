"""Find superfluous parts of a printed statement from its text alone, independently of the
printer.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from tests.engines.golden import expression_faults, kinds
from tests.engines.golden.comments import find_comment_faults

SHORT_NUMBER = len("0.1234567890123")
"""Length of numbers up to which an engine reads a decimal number as the double that its text is."""


def find_faults(text: str, dialect: str) -> list[str]:
    """Return a sentence for each thing in a printed statement that could be left out."""
    reader = _Reader(dialect)
    for statement in expression_faults.parse_statements(text, dialect):
        query = statement if isinstance(statement, exp.Query) else statement.args.get("expression")
        if isinstance(query, exp.Query):
            reader.query(
                query, reader.ctes(statement, {}, []) if statement is not query else {}, []
            )
            reader.found += [
                *expression_faults.find_constant_conditions(query, dialect),
                *expression_faults.find_needless_parentheses(query, dialect),
            ]
        elif isinstance(statement, exp.Command) or statement.find(exp.Query):
            raise NotImplementedError(
                f"a statement that is a {type(statement).__name__}: {statement.sql(dialect)}"
            )
    return [
        *reader.found,
        *reader.unread(),
        *reader.repeated(),
        *reader.superfluous_numbers(),
        *find_comment_faults(text),
    ]


@dataclass(eq=False)
class _Relation:
    """Columns of rows that queries read, with their kinds (None: an input's are not known), and
    which of them are read.
    """

    columns: dict[str, str | None] | None
    read: set[str] = field(default_factory=set)
    label: str = ""
    uses: int = 0


@dataclass
class _Scope:
    """The sources of a SELECT by alias, the one whose ON is being read, and those that are read
    outside of their own ON.
    """

    sources: dict[str, _Relation]
    joining: str | None = None
    used: set[str] = field(default_factory=set)


class _Reader:
    """One walk over a statement, from the first CTE to the outermost SELECT."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.found: list[str] = []
        self.relations: list[_Relation] = []
        self.inputs: Counter[str] = Counter()
        self.kinds: dict[int, str | None] = {}
        self.numbers: list[exp.Expr] = []

    def unread(self) -> Iterator[str]:
        """Yield a sentence for each CTE that nobody reads, and each column; rows that are counted
        need one column.
        """
        for relation in self.relations:
            if not relation.uses:
                yield f"{relation.label}: nobody reads it"
            elif relation.columns and len(relation.columns) > 1:
                yield from (
                    f"{relation.label}: nobody reads its column {name}"
                    for name in relation.columns
                    if name not in relation.read
                )

    def superfluous_numbers(self) -> Iterator[str]:
        """Yield a sentence for each exponent and cast without which a number would be the same
        double, because it is beside one.
        """
        for number in self.numbers:
            others = [
                other
                for other in expression_faults.find_alternatives(number, self.dialect)
                if not expression_faults.is_literal(other)
            ]
            if any(self.kinds.get(id(other)) == kinds.DOUBLE for other in others):
                yield (
                    f"{expression_faults.describe_place(number)}: {number.sql(self.dialect)} is"
                    " beside a double"
                )

    def repeated(self) -> Iterator[str]:
        """Yield a sentence for each input table that is written more than once."""
        return (
            f"input {name}: written {count} times"
            for name, count in self.inputs.items()
            if count > 1
        )

    def query(self, node: exp.Expr, ctes: dict[str, _Relation], outer: list[_Scope]) -> _Relation:
        """Read a query; return its columns, of which a DISTINCT or a UNION without ALL reads
        each.
        """
        ctes = self.ctes(node, ctes, outer)
        if isinstance(node, exp.Subquery):
            return self.query(node.this, ctes, outer)
        if isinstance(node, exp.SetOperation):
            left, right = (
                self.query(node.this, ctes, outer),
                self.query(node.expression, ctes, outer),
            )
            if left.columns is None or right.columns is None:
                return _Relation(None)
            both = zip(left.columns.values(), right.columns.values(), strict=True)
            columns = {
                name: kinds.merge_kinds(pair, self.dialect)
                for name, pair in zip(left.columns, both, strict=True)
            }
            return _Relation(
                columns,
                (
                    set(columns)
                    if node.args.get("distinct") or not isinstance(node, exp.Union)
                    else set()
                ),
            )
        if isinstance(node, exp.Select):
            return self.select(node, ctes, outer)
        raise NotImplementedError(
            f"a query that is a {type(node).__name__}: {node.sql(self.dialect)}"
        )

    def ctes(
        self, node: exp.Expr, ctes: dict[str, _Relation], outer: list[_Scope]
    ) -> dict[str, _Relation]:
        """Read the CTEs before a query, and return those that the query sees."""
        clause = node.args.get("with_")
        for cte in clause.expressions if clause else ():
            relation = _Relation(
                dict.fromkeys(
                    name.lower() for name in cte.alias_column_names or cte.this.named_selects
                )
            )
            known = self.query(
                cte.this,
                ctes | ({cte.alias.lower(): relation} if clause and clause.recursive else {}),
                outer,
            )
            if (
                _is_projection(cte.this)
                and (source := cte.this.args["from_"].this).name.lower() in ctes
            ):
                self.found.append(f"CTE {cte.alias}: only a projection of {source.name}")
            relation.columns, relation.uses = known.columns, 0
            relation.read |= known.read
            ctes = ctes | {cte.alias.lower(): self.named(relation, f"CTE {cte.alias}", cte)}
        return ctes

    def named(self, relation: _Relation, label: str, node: exp.DerivedTable) -> _Relation:
        """Keep the rows of a CTE or a subquery under its name, and its columns under those that the
        alias lists.
        """
        if node.alias_column_names and relation.columns is not None:
            names = dict(
                zip(
                    relation.columns,
                    (name.lower() for name in node.alias_column_names),
                    strict=True,
                )
            )
            relation.columns = {names[name]: kind for name, kind in relation.columns.items()}
            relation.read = {names.get(name, name) for name in relation.read}
        relation.label = label
        self.relations.append(relation)
        return relation

    def select(
        self, node: exp.Select, ctes: dict[str, _Relation], outer: list[_Scope]
    ) -> _Relation:
        """Read a SELECT: its sources, its expressions, and its joins."""
        scope, joins = _Scope({}), node.args.get("joins") or []
        first = [node.args["from_"].this] if node.args.get("from_") else []
        for item in [*first, *(join.this for join in joins), *(node.args.get("laterals") or [])]:
            scope.sources[item.alias_or_name.lower() or f"#{len(scope.sources)}"] = self.source(
                item, ctes, scope, outer
            )
        for key, value in node.args.items():
            if key not in {"with_", "from_", "joins", "laterals"}:
                self.visit(value, ctes, [scope, *outer])
        for join in joins:
            scope.joining = join.alias_or_name.lower()
            self.visit(
                [join.args.get("on"), *map(exp.column, join.args.get("using") or [])],
                ctes,
                [scope, *outer],
            )
            scope.joining = None
        for join in joins:
            if join.side == "LEFT" and join.alias_or_name.lower() not in scope.used:
                self.found.append(
                    f"{expression_faults.describe_place(node)}: nobody reads what LEFT JOIN"
                    f" {join.alias_or_name} adds"
                )
        columns = self.outputs(node, scope)
        return _Relation(columns, set(columns or ()) if node.args.get("distinct") else set())

    def source(
        self, item: exp.Expr, ctes: dict[str, _Relation], scope: _Scope, outer: list[_Scope]
    ) -> _Relation:
        """Read an item of FROM or JOIN: a CTE, a subquery, or an input."""
        if isinstance(item, exp.Table) and not item.db and item.name.lower() in ctes:
            relation = ctes[item.name.lower()]
        elif isinstance(item, exp.Subquery) or (
            isinstance(item, exp.Lateral) and isinstance(item.this, exp.Subquery)
        ):
            query = self.query(
                item if isinstance(item, exp.Subquery) else item.this,
                ctes,
                [scope, *outer] if isinstance(item, exp.Lateral) else outer,
            )
            relation = self.named(
                query, f"subquery {item.alias} in {expression_faults.describe_place(item)}", item
            )
        else:
            if isinstance(item, exp.Table) and (
                isinstance(item.this, exp.Identifier) or item.find(exp.Literal)
            ):
                self.inputs[".".join(part.sql(self.dialect) for part in item.parts)] += 1
            self.visit(list(item.iter_expressions()), ctes, [scope, *outer])
            relation = _Relation(None)
        relation.uses += 1
        return relation

    def outputs(self, node: exp.Select, scope: _Scope) -> dict[str, str | None] | None:
        """Return the columns of a SELECT with their kinds, None if a star stands for columns of an
        input.
        """
        columns: dict[str, str | None] = {}
        for item in node.expressions:
            if not item.is_star:
                name = item.alias_or_name.lower()
                columns[name if name and name not in columns else f"{name}#{len(columns) + 1}"] = (
                    self.kinds[id(item)]
                )
                continue
            for source in _find_starred(item, scope).values():
                if source.columns is None:
                    return None
                columns |= {
                    name: kind
                    for name, kind in source.columns.items()
                    if name not in _find_excepted(item)
                }
        return columns

    def visit(self, node: Any, ctes: dict[str, _Relation], scopes: list[_Scope]) -> None:
        """Read an expression, or several: mark the columns in it as read, and judge its casts."""
        if isinstance(node, list):
            for part in node:
                self.visit(part, ctes, scopes)
        elif isinstance(node, exp.Query):
            columns = self.query(node, ctes, scopes).columns
            self.kinds[id(node)] = next(iter(columns.values())) if columns else None
        elif isinstance(node, exp.Star) or (isinstance(node, exp.Column) and node.is_star):
            if isinstance(node, exp.Column) or isinstance(node.parent, exp.Select):  # not COUNT(*)
                _read_star(node, scopes[0])
        elif isinstance(node, exp.Column):
            self.kinds[id(node)] = _mark_read(node, scopes)
        elif isinstance(node, exp.Expr):
            self.visit(list(node.iter_expressions()), ctes, scopes)
            self.kinds[id(node)] = kinds.infer_kind(node, self.kinds, self.dialect)
            if kinds.is_double(node):
                self.judge(node, scopes[0])
            if (
                expression_faults.is_lengthened(node)
                and len(node.name.lower().removesuffix("e0")) <= SHORT_NUMBER
            ):
                self.numbers.append(node)

    def judge(self, cast: exp.Expr, scope: _Scope) -> None:
        """Keep a sentence on a cast to double if the value is one without it, or becomes one where
        it stands.

        An expression over an input's columns is a caller's own text, which no compiler knows the
        type of: it is cast.
        """
        kind, user = self.kinds.get(id(cast.this)), expression_faults.find_enclosing(cast)
        is_callers = bool(cast.find(exp.Column)) and all(
            source.columns is None for source in scope.sources.values()
        )
        if kind == kinds.DOUBLE and not is_callers:
            self.found.append(
                f"{expression_faults.describe_place(cast)}:"
                f" {expression_faults.shorten_text(cast, self.dialect)} casts what is a double"
                " already"
            )
        elif (
            isinstance(user, (exp.Div, exp.SafeDivide))
            and kind in {None, kinds.INTEGER}
            and self.dialect in kinds.DIVIDES_TO_DOUBLE
        ):
            self.found.append(
                f"{expression_faults.describe_place(cast)}:"
                f" {expression_faults.shorten_text(cast, self.dialect)} is in a division, which"
                " gives a double without the cast"
            )


def _mark_read(column: exp.Column, scopes: list[_Scope]) -> str | None:
    """Mark a column as read in the sources that have it, and return its kind; a column of no source
    may be an input's.
    """
    name, qualifier = column.name.lower(), column.table.lower()
    if qualifier and not any(qualifier in scope.sources for scope in scopes):  # a field of a column
        name, qualifier = column.parts[0].name.lower(), ""
    for scope in scopes:
        known = {
            alias: source
            for alias, source in scope.sources.items()
            if name in (source.columns or ())
        }
        matches = known or {
            alias: source for alias, source in scope.sources.items() if source.columns is None
        }
        if qualifier:
            matches = {
                alias: source for alias, source in scope.sources.items() if alias == qualifier
            }
        for alias, source in matches.items():
            source.read.add(name)
            if alias != scope.joining:
                scope.used.add(alias)
        if matches and (qualifier or known):
            return (next(iter(matches.values())).columns or {}).get(name)
    return None


def _find_starred(item: exp.Expr, scope: _Scope) -> dict[str, _Relation]:
    """Return the sources whose columns a star stands for."""
    table = item.table.lower() if isinstance(item, exp.Column) else ""
    return {alias: source for alias, source in scope.sources.items() if table in {"", alias}}


def _find_excepted(item: exp.Expr) -> set[str]:
    star = item if isinstance(item, exp.Star) else item.this
    return {column.name.lower() for column in star.args.get("except_") or ()}


def _read_star(item: exp.Expr, scope: _Scope) -> None:
    for alias, source in _find_starred(item, scope).items():
        scope.used.add(alias)
        source.read |= set(source.columns or ()) - _find_excepted(item)


def _is_projection(query: exp.Expr) -> bool:
    """Return True if a query is a SELECT of nothing but columns under their own names from one
    table.
    """
    plain = isinstance(query, exp.Select) and {
        key for key, value in query.args.items() if value
    } == {"expressions", "from_"}
    columns = [item.unalias() for item in query.expressions]
    return (
        plain
        and isinstance(query.args["from_"].this, exp.Table)
        and not query.args["from_"].this.db
        and all(isinstance(column, (exp.Column, exp.Star)) for column in columns)
        and all(
            item.alias_or_name == column.name
            for item, column in zip(query.expressions, columns, strict=True)
        )
    )
