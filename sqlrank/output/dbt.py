"""Build dbt models of metrics (SQL of a table, view or incremental model, and YAML of column
descriptions and tests), and write them to files, whose YAML keeps what people added.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqlrank._version import __version__
from sqlrank.call.argument_checks import MAX_NESTING, entry_point
from sqlrank.call.request import Request
from sqlrank.call.resolve import ResolvedRequest, resolve_request
from sqlrank.call.sources import reader_function
from sqlrank.engines.database import NamesOnlyDatabase
from sqlrank.engines.query_sources import find_jinja, split_table_name
from sqlrank.errors import InputError, SqlrankError, join_words, quote_excerpt, short_repr
from sqlrank.output.output_file import FileKind, OutputFile, write_files
from sqlrank.output.table_writes import resolve_group_column, without_order
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.renderer import StatementHeader, render_statement, to_sql
from sqlrank.run.prepare import audit_text, prepare_audit, prepare_statement
from sqlrank.sql_ast import call_function, output_identifier, query_text, sql_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Unpack

    from sqlrank.compiler.statement import CompiledStatement
    from sqlrank.option_types import Policies
    from sqlrank.registry.metric import Metric

Materialized = Literal["table", "view", "incremental"]

APPENDS_COLUMNS = ", on_schema_change='append_new_columns'"
"""Configuration of an incremental model by which its table gets the column of a metric that is
added.
"""

_JINJA = re.compile(r"\{[{%#]")
_VARIABLE = re.compile(
    r"""\{\{\s*var\(\s*(["'])[\w.-]+\1\s*(?:,\s*(?:'[^'{}]*'|"[^"{}]*"|-?[\d.]+)\s*)?\)\s*\}\}"""
)
"""The Jinja that a condition may hold: a variable of the project, with or without a default."""
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_DBT_CALL = re.compile(r"\b(ref|source)\s*\(")
_QUOTED = re.compile(r"""['"]([^'"]+)['"]""")


@dataclass(frozen=True)
class DbtModel:
    """A dbt model or test: ``sql`` is the text of its file, ``schema`` the content of its YAML
    file, which is empty for a test.
    """

    sql: str
    schema: dict[str, Any]


@entry_point
def dbt_model(  # noqa: D417  sql describes the other arguments
    metrics: str | Metric | Iterable[str | Metric],
    name: str,
    *,
    materialized: Materialized = "table",
    dialect: str = "duckdb",
    overwrite_by: str | None = None,
    audit: bool = False,
    run: Any = None,
    qrels: Any = None,
    predictions: Any = None,
    queries: Any = None,
    inputs: Mapping[str, Any] | None = None,
    columns: Mapping[str, Any] | None = None,
    by: str | Sequence[str] | Sequence[Sequence[str]] = (),
    across: str | Sequence[str] = (),
    where: str | None = None,
    per_query: bool = False,
    confidence: float | None = None,
    interval: str = "auto",
    unit: str | None = None,
    replicates: int | None = None,
    seed: int | None = None,
    compat: str | None = None,
    sql_dir: str | Path | None = None,
    plan: Mapping[str, str] | None = None,
    **policies: Unpack[Policies],
) -> DbtModel:
    r"""Return a dbt model of metrics; other arguments are those of :func:`sqlrank.sql`.

    An input of one name is a model or seed, ``ref('name')``; one of two names is a source,
    ``source('schema', 'table')``. Key columns get ``not_null`` tests, unless there are groupings,
    and a common uniqueness test. Counts get ``not_null`` tests.

    Args:
        metrics: metrics of the model, each a column.
        name: name of the model.
        materialized: ``"table"``, ``"view"`` or ``"incremental"``, which replaces the rows of the
            same groups.
        dialect: the SQL dialect of the warehouse.
        overwrite_by: a column of ``by`` such as ``"day"``, for an incremental model. It then reads
            only rows from the last day in the model on. It replaces all rows of these days if the
            adapter supports ``delete+insert``; otherwise it merges them.
        audit: return a test instead, which fails with a row for each rule that rows of the inputs
            break.
        where: a condition on the rows to read. A text literal in it may hold Jinja, such as ``"day
            >= '{{ var(\"since\") }}'"``; other arguments may not.

    Returns:
        The model, whose ``sql`` and ``schema`` you write to files.

    Raises:
        MetricError: as for :func:`sqlrank.sql`.
        InputError: an invalid dbt name, or as for :func:`sqlrank.sql`.

    >>> import sqlrank
    >>> model = sqlrank.dbt_model("AUC", "daily", predictions="ads.impressions", by="day")
    >>> model.sql.rstrip().splitlines()[0]
    "{{ config(materialized='table') }}"
    """
    arguments = locals()
    settings = {
        "dbt": f"{name}.sql",
        "materialized": None if materialized == "table" else materialized,
        "overwrite_by": overwrite_by,
        "audit": audit or None,
    }
    call = Request.from_arguments(arguments, requested_names=True, command="sql", options=settings)
    options = {
        name: arguments[name] for name in ("metrics", "by", "across", "columns", "where", "unit")
    } | policies
    check_name(name)
    dialect = dialect or "duckdb"
    get_dialect(dialect)
    request = resolve_request(call)
    database = NamesOnlyDatabase(dialect, dbt_relation, allows_jinja=True)
    if audit:
        header, checks = prepare_audit(request, database)
        broken = exp.select("*").from_(checks.subquery("audit")).where("num_rows > 0")
        text = audit_text(_without_jinja(header), broken, dialect)
        _check_jinja(text, broken, options, dialect)
        return DbtModel(f"{text}\n", {})
    statement = prepare_statement(request, database).statement
    column = None
    if overwrite_by is not None:
        statement = dataclasses.replace(statement, tree=statement.tree.copy())
        column = _restrict_inputs(statement, overwrite_by, materialized, dialect, options)
    statement = dataclasses.replace(statement, tree=without_order(statement))
    keys, _ = _split_outputs(statement)
    config = f"materialized='{materialized}'"
    if materialized == "incremental":
        if not keys:
            raise InputError(
                "an incremental model needs by or per_query, whose columns identify its rows."
                " Choose table"
            )
        if request.grouping_sets is not None:
            raise InputError(
                "grouping sets have NULL keys, which an incremental model cannot match. Choose"
                " table"
            )
        unique_columns = (
            keys if column is None or not get_dialect(dialect).dbt_deletes_and_inserts else [column]
        )
        config += f", unique_key=[{', '.join(repr(key.name) for key in unique_columns)}]"
        config += ", incremental_strategy='delete+insert'" if unique_columns is not keys else ""
        config += APPENDS_COLUMNS
    text = model_text(config, statement, dialect, options)
    metric_names = ", ".join(str(resolved_metric.metric) for resolved_metric in request.metrics)
    per = join_words(key.name for key in keys)
    description = f"{metric_names}{f' per {per}' if per else ''} (sqlrank {__version__})"
    return DbtModel(text, schema_yaml(name, description, statement, request, dialect))


def check_name(name: Any) -> None:
    """Raise ``InputError`` for an invalid dbt model name."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(
            f"{short_repr(name)} is not the name of a dbt model. Use letters, digits and _"
        )


def model_text(
    config: str, statement: CompiledStatement, dialect: str, options: Mapping[str, Any]
) -> str:
    """Return the text of a model's file."""
    text = render_statement(statement.tree, _without_jinja(statement.header), dialect)
    _check_jinja(text, statement.tree, options, dialect)
    return f"{{{{ config({config}) }}}}\n{text}\n"


def _without_jinja(header: StatementHeader) -> StatementHeader:
    """Return a header without entries that hold Jinja, which dbt runs in comments, too."""
    return header.keep_entries(lambda line: _JINJA.search(line) is None)


def _check_jinja(text: str, tree: exp.Expr, options: Mapping[str, Any], dialect: str) -> None:
    """Raise ``InputError`` for Jinja other than sqlrank's own, and variables in ``where``."""
    remaining = text
    for reference in tree.find_all(exp.Var):
        references = [reference.name] if _JINJA.search(reference.name) else []
        for jinja in references if query_text(reference) is None else find_jinja(reference.name):
            remaining = remaining.replace(jinja, "", 1)
    if options.get("where") is not None:
        for call in _VARIABLE.finditer(options["where"]):
            remaining = remaining.replace(call[0], "")
    if match := _JINJA.search(remaining):
        raise _jinja_error(remaining[match.start() :].splitlines()[0], options, dialect)


def _jinja_error(jinja: str, options: Mapping[str, Any], dialect: str) -> InputError:
    """Return the error that names the option with Jinja, also if escaped in a literal."""
    advice = (
        "which dbt would run. Only a text in where= may hold it, as a variable alone: \"day >= '{{"
        ' var(\\"since\\") }}\'"'
    )
    for option, value in options.items():
        for text in _iter_texts(value):
            try:
                decoded = sqlglot.parse_one(text, read=get_dialect(dialect).sqlglot_name).sql(
                    get_dialect(dialect).sqlglot
                )
            except SqlglotError:
                decoded = ""
            if _JINJA.search(text) or _JINJA.search(decoded):
                return InputError(f"{option}: {quote_excerpt(text)} holds Jinja, {advice}")
    return InputError(f"the model would hold {quote_excerpt(jinja)}, Jinja {advice}")


def _iter_texts(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the texts in the value of an option, or in its lists and dicts."""
    if isinstance(value, (str, Path)):
        yield str(value)
    elif isinstance(value, (list, tuple, dict)) and depth < MAX_NESTING:
        for element in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from _iter_texts(element, depth + 1)


def schema_yaml(
    name: str,
    description: str,
    statement: CompiledStatement,
    request: ResolvedRequest,
    dialect: str,
) -> dict[str, Any]:
    """Return the content of a model's YAML file: descriptions and tests."""
    keys, values = _split_outputs(statement)
    columns = [_describe_key(key, request) for key in keys] + values
    model = (
        {"name": name, "description": description}
        | _build_unique_test(keys, dialect)
        | {"columns": columns}
    )
    return {"version": 2, "models": [model]}


def dbt_relation(role: str, source: Any) -> Any:
    """Return the Jinja reference of a model or source as a table."""
    name_parts = split_table_name(source) if isinstance(source, str) else None
    if (
        name_parts is None
        or len(name_parts) > len(("schema", "table"))
        or reader_function(source)
        or not all(map(_NAME.fullmatch, name_parts))
    ):
        names = (
            _QUOTED.findall(source) if isinstance(source, str) and _DBT_CALL.search(source) else []
        )
        hint = f". Write {'.'.join(names)!r}" if names else ""
        raise InputError(
            f"{role}: {short_repr(source)} is neither a dbt model, such as predictions, nor a"
            f" source, such as shop.predictions{hint}"
        )
    function = "ref" if len(name_parts) == 1 else "source"
    return exp.Table(this=exp.var(f"{{{{ {function}({', '.join(map(repr, name_parts))}) }}}}"))


def _restrict_inputs(
    statement: CompiledStatement,
    column: str,
    materialized: str,
    dialect: str,
    options: Mapping[str, Any],
) -> exp.Identifier:
    """Restrict the inputs in place to rows from the model's last value on.

    Returns the name of the column.
    """
    if materialized != "incremental":
        raise InputError(
            f"overwrite_by={column!r} is for materialized='incremental'. Choose that, or leave out"
            " overwrite_by="
        )
    identifier = resolve_group_column(statement, column, dialect)
    items = zip(without_order(statement).selects, statement.outputs, strict=True)
    (alias,) = [
        output.alias
        for select_item, output in items
        if output_identifier(select_item) == identifier
    ]
    last_value = exp.select(exp.Max(this=exp.column(identifier.copy()))).from_(
        exp.Table(this=exp.var("{{ this }}"))
    )
    for cte in statement.tree.args["with_"].expressions:
        source = cte.this.args.get("from_")
        is_model = (
            source is not None
            and isinstance(source.this, (exp.Table, exp.Subquery))
            and isinstance(source.this.this, exp.Var)
        )
        for select_item in cte.this.selects if is_model else ():
            if select_item.alias_or_name == alias:
                value = select_item.unalias()
                later = exp.GTE(
                    this=value.copy(),
                    expression=exp.func("COALESCE", last_value.copy().subquery(), value.copy()),
                )
                if _JINJA.search(to_sql(value, dialect)):
                    raise _jinja_error(to_sql(value, dialect), options, dialect)
                condition = (
                    f"{{% if is_incremental() %}}{to_sql(later, dialect)}{{% else"
                    f" %}}{to_sql(exp.true(), dialect)}{{% endif %}}"
                )
                # A column, since the compiled sqlglot takes a word for no condition.
                cte.this.where(exp.Column(this=exp.var(condition)), copy=False)
    return identifier


def _split_outputs(
    statement: CompiledStatement,
) -> tuple[list[exp.Identifier], list[dict[str, Any]]]:
    """Return the key columns, and the YAML entries of the others."""
    keys: list[exp.Identifier] = []
    values: list[dict[str, Any]] = []
    for select_item, output in zip(statement.tree.selects, statement.outputs, strict=True):
        name = output_identifier(select_item)
        if output.kind in {"by", "slice", "query", "cutoff", "point", "name"}:
            keys.append(name)
        elif output.kind in {"value", "id"} or output.metric is None:
            values.append({"name": name.name})
        else:
            tests = {"data_tests": ["not_null"]} if output.metric.file.is_always_defined else {}
            values.append(
                {
                    "name": name.name,
                    "description": f"{output.name}: {output.metric.file.description}",
                }
                | tests
            )
    return keys, values


def _describe_key(key: exp.Identifier, request: ResolvedRequest) -> dict[str, Any]:
    quote = {"quote": True} if key.quoted else {}
    return (
        {"name": key.name}
        | quote
        | ({"data_tests": ["not_null"]} if request.grouping_sets is None else {})
    )


def _build_unique_test(keys: list[exp.Identifier], dialect: str) -> dict[str, Any]:
    """Return the test that keys are unique together, as a dbt expression."""
    if not keys:
        return {}
    key_texts: list[exp.Expr] = [exp.cast(exp.column(key.copy()), "TEXT") for key in keys]
    if len(keys) > 1:  # a separator that no text contains, so that only equal keys are equal
        key_texts = [
            call_function("REPLACE", key_text, sql_literal("|"), sql_literal("|0"))
            for key_text in key_texts
        ]
    text = key_texts[0]
    for key_text in key_texts[1:]:
        text = exp.DPipe(
            this=exp.DPipe(this=text, expression=sql_literal("|1")), expression=key_text
        )
    return {"data_tests": [{"unique": {"column_name": text.sql(get_dialect(dialect).sqlglot)}}]}


_SEAL = re.compile(r"^(?:#|--) Hash of the generated lines: ([0-9a-f]{16})\n", re.MULTILINE)
_YAML_QUOTED = re.compile(r"""(?<=[\s\[{,])(?:'(?:[^']|'')*'|"(?:[^"\\]|\\.)*")""")
_COMMENT = re.compile(r"(?:^|\s)#", re.MULTILINE)
_GENERATED_DESCRIPTION = re.compile(r".*\(sqlrank [\w.+-]+\)", re.DOTALL)
_GENERATED_KEYS = {"name", "description", "quote", "data_tests"}
_TESTS = ("data_tests", "tests")


def seal_text(text: str, lines: int, comment: str, generated: str | None = None) -> str:
    """Insert a comment with the hash of the generated text after the first lines of a text, and
    those that continue them, by which an edit is seen now and later.
    """
    parts = text.split("\n")
    while parts[lines:] and parts[lines].startswith(f"{comment}   "):
        lines += 1
    seal = f"{comment} Hash of the generated lines: {_hash_text(generated or text)}"
    return "\n".join([*parts[:lines], seal, *parts[lines:]])


def is_edited(text: str) -> bool:
    """Return True if the text of a generated file was changed; one without a hash was written by an
    earlier version.
    """
    seal = _SEAL.search(text)
    return seal is not None and seal[1] != _hash_text(_SEAL.sub("", text, count=1))


def merge_properties(label: str, earlier: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return properties with what people added to the earlier text of their file: keys, models,
    columns and tests.

    Raises ``SqlrankError`` for a text that cannot be merged without a loss.
    """
    import yaml  # an optional dependency

    body = earlier.partition("\n")[2] if earlier.startswith("# sqlrank ") else earlier
    if _COMMENT.search(_YAML_QUOTED.sub("", _SEAL.sub("", body))):
        raise SqlrankError(
            f"{label}: this file has comments, which would be lost. Write them into descriptions,"
            " or replace the file with --force"
        )
    try:
        old = yaml.safe_load(earlier)
        old_models = {model["name"]: model for model in old["models"]}
    except (yaml.YAMLError, TypeError, KeyError):
        raise SqlrankError(
            f"{label}: this file is no list of models. Fix it, or replace the file with --force"
        ) from None
    (model,) = schema["models"]
    merged = _merge_model(old_models.get(model["name"], {}), model)
    return {**schema, **old, "models": [*(old_models | {model["name"]: merged}).values()]}


def _merge_model(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return a model with the keys and tests of people, and the columns and the test of unique keys
    that it has now.
    """
    merged = {**new, **old}
    if _GENERATED_DESCRIPTION.fullmatch(str(old.get("description", ""))):
        merged["description"] = new["description"]
    tests = next((key for key in _TESTS if key in old), None)
    if tests is None and old:
        merged.pop("data_tests", None)  # removed by hand
    elif tests is not None:
        others = [test for test in old[tests] or [] if not _is_unique_test(test)]
        has_unique = len(others) < len(old[tests] or [])
        merged = {
            name: value for name, value in merged.items() if name not in _TESTS or name == tests
        }
        merged[tests] = [*(new.get("data_tests", []) if has_unique else []), *others]
    old_columns = {column["name"]: column for column in old.get("columns") or []}
    new_columns = {column["name"]: column for column in new["columns"]}
    preserved = {
        name: column
        for name, column in old_columns.items()
        if name not in new_columns and not _is_generated(column)
    }
    # What people removed from a column, such as a test, stays away.
    return merged | {
        "columns": [
            *(old_columns.get(name, column) for name, column in new_columns.items()),
            *preserved.values(),
        ]
    }


def _is_unique_test(test: Any) -> bool:
    """Return True for the test of unique keys that models are written with."""
    return (
        isinstance(test, dict)
        and isinstance(test.get("unique"), dict)
        and "CAST(" in str(test["unique"].get("column_name"))
    )


def _is_generated(column: dict[str, Any]) -> bool:
    """Return True for a column that holds nothing that people added."""
    return column.keys() <= _GENERATED_KEYS and column.get("data_tests") in (None, ["not_null"])


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def write_dbt_files(
    path: Path, kind: FileKind, force: bool, sources: Sequence[Any], make: Callable[[str], DbtModel]
) -> list[Path]:
    """Write a dbt model and its YAML file, made for the file's name; return their paths."""
    try:
        # An optional dependency
        import yaml  # noqa: F401
    except ImportError:
        raise SqlrankError("--dbt needs PyYAML. Run pip install pyyaml") from None
    if path.suffix != ".sql":
        raise SqlrankError(
            f"--dbt {path}: name the file of the model, such as models/daily_metrics.sql"
        )
    file, properties = (
        OutputFile(file_path, file_kind, "--dbt", force, sources=tuple(sources))
        for file_path, file_kind in (
            (path, kind),
            (path.with_suffix(".yml"), FileKind.DBT_PROPERTIES),
        )
    )
    earlier = {
        output: output.real_path.read_text("utf-8")
        for output in (file, properties)
        if output.has_earlier_text
    }
    if not force and is_edited(earlier.get(file, "")):
        raise SqlrankError(
            f"{file.label}: this file was edited after sqlrank wrote it. Replace it with --force,"
            " or name another file"
        )
    model = make(path.stem)
    statement = _name_path(model.sql, path)
    if not model.schema:
        write_files([(file, seal_text(statement, 1, "--"))])
        return [file.path]
    generated = text = _dump_properties(path, model.schema)
    if not force and is_edited(earlier.get(properties, "")):
        text = _dump_properties(
            path, merge_properties(properties.label, earlier[properties], model.schema)
        )
    write_files(
        [(file, seal_text(statement, 2, "--")), (properties, seal_text(text, 1, "#", generated))]
    )
    return [file.path, properties.path]


def _dump_properties(path: Path, schema: dict[str, Any]) -> str:
    """Return the text of a YAML file of properties."""
    import yaml  # as above

    text = yaml.safe_dump(schema, sort_keys=False, allow_unicode=True, width=120)
    return (
        f"# sqlrank {__version__}: properties of {path.name}. What you add stays when it is written"
        f" again\n{text}"
    )


def _name_path(text: str, path: Path) -> str:
    """Return a model whose header has the path as it was written; not one with Jinja, which dbt
    would run, or control characters.
    """
    quoted = shlex.quote(str(path))
    return (
        text
        if "{" in quoted or not quoted.isprintable()
        else text.replace(f" --dbt {path.name}", f" --dbt {quoted}", 1)
    )
