"""Build expressions of list functions, metrics over lists of documents in one row, from ``sql/list_functions``."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.compiler.parameter_binding import symbolic_parameter
from sqlrank.registry.sql_file import SqlFile
from sqlrank.registry.sql_folder import sql_root
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping

HELPERS = ("relevant_ranks",)
"""Files that others call, which are no functions of a database themselves."""


@cache
def load_list_functions() -> Mapping[str, SqlFile]:
    """Return the files of list functions by name."""
    paths = sorted((sql_root() / "list_functions").glob("*.sql"))
    return {path.stem: SqlFile("functions", path.stem, path) for path in paths}


def build_list_function(name: str) -> exp.Expr:
    """Return the expression of a list function, with symbolic parameters for its arguments."""
    files = load_list_functions()
    file = files[name]
    arguments: dict[str, exp.Expr] = {argument: symbolic_parameter(argument) for argument in file.function_arguments}
    body: exp.Expr = _apply_function(file, arguments, files)
    return body


def _apply_function(file: SqlFile, arguments: Mapping[str, exp.Expr], files: Mapping[str, SqlFile]) -> exp.Expr:
    """Return the body of a file over arguments, with the helpers that it calls in it."""
    holder = exp.Paren(this=file.tree.copy())
    for node in find_nodes(holder, exp.Column):
        if node.name in arguments:
            node.replace(arguments[node.name].copy())
    for call in find_nodes(holder, exp.Anonymous):
        if call.name.lower() in files:
            helper = files[call.name.lower()]
            call.replace(_apply_function(helper, dict(zip(helper.function_arguments, call.expressions, strict=True)), files))
    body: exp.Expr = holder.this
    return body
