"""Write the SQL file of a dbt model, and the YAML file with its properties."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.errors import SqlrankError
from sqlrank.output.dbt_properties import is_edited, merge_properties, seal_text
from sqlrank.output.file_kinds import FileKind
from sqlrank.output.output_file import OutputFile, write_files

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from sqlrank.output.dbt import DbtModel


def write_dbt_model(path: Path, metrics: Any, force: bool, sources: Sequence[Any], **options: Any) -> list[Path]:
    """Write a dbt model of metrics and its YAML file; return their paths."""
    from sqlrank.output.dbt import dbt_model  # noqa: PLC0415  engines are not needed for help

    return write_dbt_files(path, FileKind.DBT_METRICS, force, sources, lambda name: dbt_model(metrics, name, **options))


def write_dbt_files(path: Path, kind: FileKind, force: bool, sources: Sequence[Any], make: Callable[[str], DbtModel]) -> list[Path]:
    """Write a dbt model and its YAML file, made for the file's name; return their paths."""
    try:
        import yaml  # noqa: F401, PLC0415  an optional dependency
    except ImportError:
        raise SqlrankError("--dbt needs PyYAML. Run pip install pyyaml") from None
    if path.suffix != ".sql":
        raise SqlrankError(f"--dbt {path}: name the file of the model, such as models/daily_metrics.sql")
    file, properties = (
        OutputFile(file_path, file_kind, "--dbt", force, sources=tuple(sources))
        for file_path, file_kind in ((path, kind), (path.with_suffix(".yml"), FileKind.DBT_PROPERTIES))
    )
    earlier = {output: output.real_path.read_text("utf-8") for output in (file, properties) if output.has_earlier_text}
    if not force and is_edited(earlier.get(file, "")):
        raise SqlrankError(f"{file.label}: this file was edited after sqlrank wrote it. Replace it with --force, or name another file")
    model = make(path.stem)
    statement = _name_path(model.sql, path)
    generated = text = _dump_properties(path, model.schema)
    if not force and is_edited(earlier.get(properties, "")):
        text = _dump_properties(path, merge_properties(properties.label, earlier[properties], model.schema))
    write_files([(file, seal_text(statement, 2, "--")), (properties, seal_text(text, 1, "#", generated))])
    return [file.path, properties.path]


def _dump_properties(path: Path, schema: dict[str, Any]) -> str:
    """Return the text of a YAML file of properties."""
    import yaml  # noqa: PLC0415  as above

    text = yaml.safe_dump(schema, sort_keys=False, allow_unicode=True, width=120)
    return f"# sqlrank {__version__}: properties of {path.name}. What you add stays when it is written again\n{text}"


def _name_path(text: str, path: Path) -> str:
    """Return a model whose header has the path as it was written; not one with Jinja, which dbt would run, or control characters."""
    quoted = shlex.quote(str(path))
    return text if "{" in quoted or not quoted.isprintable() else text.replace(f" --dbt {path.name}", f" --dbt {quoted}", 1)
