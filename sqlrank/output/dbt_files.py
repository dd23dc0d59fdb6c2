"""Write the SQL file of a dbt model, and merge its properties into a YAML file that people
edited.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.errors import SqlrankError
from sqlrank.output.output_file import FileKind, OutputFile, write_files

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from sqlrank.output.dbt import DbtModel


_SEAL = re.compile(r"^(?:#|--) Hash of the generated lines: ([0-9a-f]{16})\n", re.MULTILINE)
_QUOTED = re.compile(r"""(?<=[\s\[{,])(?:'(?:[^']|'')*'|"(?:[^"\\]|\\.)*")""")
_COMMENT = re.compile(r"(?:^|\s)#", re.MULTILINE)
_GENERATED_DESCRIPTION = re.compile(r".*\(sqlrank [\w.+-]+\)", re.DOTALL)
_GENERATED_KEYS = {"name", "description", "quote", "data_tests"}
_TESTS = ("data_tests", "tests")


def seal_text(text: str, lines: int, comment: str, generated: str | None = None) -> str:
    """Insert a comment with the hash of the generated text after the first lines of a text, by
    which an edit is seen now and later.
    """
    parts = text.split("\n", lines)
    return "\n".join(
        [
            *parts[:lines],
            f"{comment} Hash of the generated lines: {_hash_text(generated or text)}",
            *parts[lines:],
        ]
    )


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
    if _COMMENT.search(_QUOTED.sub("", _SEAL.sub("", body))):
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
