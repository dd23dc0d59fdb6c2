"""Shorten the readers of TREC files, and of predictions of Vowpal Wabbit, in queries that messages offer."""

from __future__ import annotations

from sqlglot import exp

from sqlrank.registry.query_templates import load_select

TEXT_ROWS = "text_rows"
"""Alias of the subquery that reads such a file."""


def shorten_text_readers(query: exp.Query) -> exp.Query:
    """Return a query that reads only the needed fields of text files, without the checks of lines, which these files have passed."""
    shortened = query.copy()
    for rows in [subquery for subquery in shortened.find_all(exp.Subquery) if subquery.alias == TEXT_ROWS]:
        outer, reader = rows.parent_select, rows.find(exp.ReadCSV)
        if outer is None or reader is None:
            continue
        inner = {id(column) for column in rows.find_all(exp.Column)}
        needed = {column.name for column in outer.find_all(exp.Column) if id(column) not in inner}
        fields = [_without_check(field) for field in rows.this.selects if outer.is_star or field.alias in needed]
        lines = exp.replace_placeholders(load_select("inputs", "text_lines.sql"), path=reader.this)
        rows.set(
            "this", exp.select(*fields, copy=False).from_(exp.Subquery(this=lines, alias=exp.TableAlias(this=exp.to_identifier("lines"))))
        )
    return shortened


def _without_check(field: exp.Expr) -> exp.Expr:
    """Return a field of a line without the branch that raises an error for other lines."""
    value = field.this
    is_checked = isinstance(value, exp.Case) and value.args.get("default") is not None
    return exp.alias_(value.args["ifs"][0].args["true"], field.alias) if is_checked else field
