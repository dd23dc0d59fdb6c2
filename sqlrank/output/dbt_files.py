"""Write the SQL file of a dbt model, and the YAML file with its properties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlrank._version import __version__
from sqlrank.errors import SqlrankError
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
        import yaml  # noqa: PLC0415  an optional dependency
    except ImportError:
        raise SqlrankError("--dbt needs PyYAML. Run pip install pyyaml") from None
    if path.suffix != ".sql":
        raise SqlrankError(f"--dbt {path}: name the file of the model, such as models/daily_metrics.sql")
    file, properties = (
        OutputFile(file_path, file_kind, "--dbt", force, sources=tuple(sources))
        for file_path, file_kind in ((path, kind), (path.with_suffix(".yml"), FileKind.DBT_PROPERTIES))
    )
    model = make(path.stem)
    schema = yaml.safe_dump(model.schema, sort_keys=False, allow_unicode=True, width=120)
    write_files([(file, model.sql), (properties, f"# sqlrank {__version__}: properties of {path.name}\n{schema}")])
    return [file.path, properties.path]
