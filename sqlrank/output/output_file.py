"""Check and write output files (replace atomically, append, stream), and detect the kind of content
of files that sqlrank wrote.
"""

from __future__ import annotations

import codecs
import os
import re
import shutil
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from sqlrank.cancellation import clean_up_at_signal, forget_cleanup, hold_exit
from sqlrank.engines.file_sources import includes_file, list_paths
from sqlrank.errors import NO_SPACE, SqlrankError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pyarrow as pa

    Content = bytes | str | Callable[[IO[bytes]], object]


class FileKind(StrEnum):
    """Kinds of content.

    A ``table`` was written by a version without kinds, or saved from Python by Arrow.
    """

    METRICS = "metrics"
    COMPARISON = "comparison"
    POWER = "power"
    VERDICTS = "verdicts"
    DRIFT = "drift"
    EXPERIMENT = "experiment"
    SPLIT = "split"
    ROLLUP = "rollup"
    WEIGHTS = "weights"
    TABLE = "table"
    CHART = "chart"
    REPORT = "report"
    JUNIT = "JUnit report"
    SUMMARY = "summary"
    STATEMENT = "statement"
    FUNCTIONS = "functions"
    DBT_METRICS = "dbt model of metrics"
    DBT_ROLLUP = "dbt model of a rollup"
    DBT_PACKAGE = "dbt package"
    DBT_PROPERTIES = "properties of a dbt model"


KIND_KEY = "sqlrank.kind"
"""Metadata key of the kind in a Parquet file."""

READ_BYTES = 4096
"""Number of bytes read from each end of a file to find its signature."""

_WORKBOOK = re.compile(rb"sqlrank [\w.+-]+(?: ([\w ]+))?<")

_STARTS: tuple[tuple[re.Pattern[bytes], FileKind], ...] = (
    (re.compile(rb"\x89PNG.{1,64}tEXtSoftware\0sqlrank ", re.DOTALL), FileKind.CHART),
    (re.compile(rb'\{"usermeta": \{"sqlrank": '), FileKind.CHART),
    (re.compile(rb"<!-- sqlrank [^\n]*\n<svg "), FileKind.CHART),
    (
        re.compile(rb'<!DOCTYPE html>\n<!-- sqlrank .{1,1200}<div id="chart">', re.DOTALL),
        FileKind.CHART,
    ),
    (re.compile(rb"<!DOCTYPE html>\n<!-- sqlrank "), FileKind.REPORT),
    (re.compile(rb'(?:<\?xml[^\n]*\?>\n)?<testsuite name="sqlrank '), FileKind.JUNIT),
    (re.compile(rb"## sqlrank (?:gate|drift): "), FileKind.SUMMARY),
    (re.compile(rb"\{\{ config[^\n]*\n-- sqlrank [^\n]*?: rollup "), FileKind.DBT_ROLLUP),
    (re.compile(rb"\{\{ config[^\n]*\n-- sqlrank "), FileKind.DBT_METRICS),
    (re.compile(rb"(?:\{#|#) sqlrank [^\n]*: dbt package"), FileKind.DBT_PACKAGE),
    (re.compile(rb"# sqlrank [^\n]*: properties of "), FileKind.DBT_PROPERTIES),
    (re.compile(rb"-- sqlrank [^\n]*: functions for "), FileKind.FUNCTIONS),
    (re.compile(rb"-- sqlrank "), FileKind.STATEMENT),
)
"""File signatures with their kinds; the first match counts."""


def read_file_kind(path: Path) -> FileKind | None:
    """Return the kind of content of a file that sqlrank wrote, None for other files."""
    with path.open("rb") as file:
        start = file.read(READ_BYTES)
        file.seek(max(0, path.stat().st_size - READ_BYTES))
        end = file.read()
    if start.startswith(b"PAR1"):
        return _read_parquet_kind(path)
    if start.startswith(b"PK"):
        return _read_workbook_kind(path)
    if start.startswith(b"%PDF"):
        return FileKind.CHART if end.rpartition(b"\n% ")[2].startswith(b"sqlrank ") else None
    return next((kind for pattern, kind in _STARTS if pattern.match(start)), None)


def _read_parquet_kind(path: Path) -> FileKind | None:
    import pyarrow as pa  # help does not need it
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
    except (pa.ArrowException, OSError, ValueError):  # damaged, so that its origin is unknown
        return None
    metadata = schema.metadata or {}
    if b"sqlrank.version" not in metadata:
        return None
    if (name := metadata.get(KIND_KEY.encode(), b"").decode("utf-8", "replace")) in set(FileKind):
        return FileKind(name)
    # Recognize rollups of versions without kinds by their column, since they may hold months of
    # aggregates.
    return FileKind.ROLLUP if "definition_hash" in schema.names else FileKind.TABLE


def _read_workbook_kind(path: Path) -> FileKind | None:
    import struct  # help does not need it
    import zipfile
    import zlib

    try:
        with zipfile.ZipFile(path) as file:
            match = _WORKBOOK.search(file.read("docProps/core.xml"))
    except (
        zipfile.BadZipFile,
        zlib.error,
        struct.error,
        RuntimeError,
        KeyError,
        EOFError,
        OSError,
        ValueError,
    ):  # as above, or encrypted
        return None
    if match is None:
        return None
    name = (match[1] or b"").decode()
    return FileKind(name) if name in set(FileKind) else FileKind.TABLE


MAX_TEMPORARY_AGE_SECONDS = 24 * 60 * 60
"""Age from which a temporary file is considered left over from a killed process."""

MAX_LINKS = 40
"""Maximum number of symbolic links that Linux follows in a path."""

TEXT_ENDINGS = ("", ".md", ".markdown", ".txt")
"""Suffixes of new files that a summary is appended to."""

_TEMPORARY = re.compile(r"\.sqlrank_[0-9a-f]{16}\.tmp")
_DESCRIPTOR = re.compile(r"/dev/(?P<name>stdout|stderr)|/(?:dev|proc/self)/fd/(?P<number>\d+)")
_STANDARD = {"stdout": 1, "stderr": 2}


@dataclass(frozen=True)
class OutputFile:
    """An output file, checked on construction and again when written.

    Attributes:
        path: the file, as the caller named it.
        kind: kind of its content.
        option: the option of the caller, such as ``-o``, or a Python keyword.
        force: replace files of other origin or kind. Inputs are never replaced.
        appends: append to existing content.
        sources: sources of the call: files, patterns and folders; other objects are ignored.
    """

    path: Path
    kind: FileKind
    option: str = "-o"
    force: bool = False
    appends: bool = False
    sources: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        """Raise ``SqlrankError`` if the file cannot, or must not, be written."""
        with self.label_errors():
            if self._descriptor is not None:
                os.fstat(self._descriptor)
                return
            self._check_location()
            self._check_sources()
            self.check_content()

    def write(self, content: Content) -> None:
        """Write the content of the file.

        Raises:
            SqlrankError: the file cannot be written, for instance to a full disk; its earlier
                content is unchanged.
        """
        write_files([(self, content)])

    def append(self, text: str) -> None:
        """Append a text to the file.

        The file keeps its inode, since a shell may have it open, as in ``{ ...; } >>
        "$GITHUB_STEP_SUMMARY"``.

        Raises:
            SqlrankError: the file cannot be written, for instance to a full disk; either all of the
                text is appended, or nothing.
        """
        data = text.encode()
        with self.label_errors():
            if self.is_stream:
                self.write_to_stream(data)
                return
            self.check_content()
            is_new = not self.real_path.exists()
            with hold_exit():
                descriptor = os.open(self.real_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
                try:
                    _append_bytes(descriptor, data)
                except BaseException:
                    if is_new and os.fstat(descriptor).st_size == 0:
                        self.real_path.unlink(missing_ok=True)
                    raise
                finally:
                    os.close(descriptor)

    @property
    def label(self) -> str:
        """Return the argument as the caller wrote it."""
        return (
            f"{self.option} {self.path}"
            if self.option.startswith("-")
            else f"{self.option}={str(self.path)!r}"
        )

    @property
    def real_path(self) -> Path:
        """Return the path with symbolic links resolved."""
        return Path(os.path.realpath(self.path))

    @property
    def _descriptor(self) -> int | None:
        """Return the open descriptor that the path or its link target denotes, else None."""
        path = self.path
        for _ in range(MAX_LINKS):
            if match := _DESCRIPTOR.fullmatch(str(path)):
                return _STANDARD[match["name"]] if match["name"] else int(match["number"])
            if not path.is_symlink():
                break
            path = path.parent / path.readlink()
        return None

    @property
    def is_stream(self) -> bool:
        """Return True for a pipe, a terminal or another device, which has no earlier content."""
        return self._descriptor is not None or (
            self.real_path.exists() and not self.real_path.is_file()
        )

    @property
    def _advice(self) -> str:
        """Return the advice at the end of a message."""
        force = "--force" if self.option.startswith("-") else "force=True"
        return f"{'Append to' if self.appends else 'Replace'} it with {force}, or name another file"

    def _check_location(self) -> None:
        """Raise ``SqlrankError`` if no file can be written at the path."""
        if self.path.is_symlink() and self.real_path.is_symlink():
            raise SqlrankError(
                f"{self.label}: a symbolic link that leads to itself. Name another file"
            )
        if self.real_path.is_dir():
            raise SqlrankError(f"{self.label}: a folder. Name a file in it")
        folder = self.real_path.parent
        if not folder.is_dir():
            advice = "Name another file" if folder.exists() else "Make it, or name another file"
            problem = (
                f"{folder} is no folder" if folder.exists() else f"there is no folder {folder}"
            )
            raise SqlrankError(f"{self.label}: {problem}. {advice}")
        if self.real_path.is_block_device():
            raise SqlrankError(
                f"{self.label}: a block device, whose data would be lost. Name a file"
            )
        if (
            not self.is_stream
            and not (self.appends and self.real_path.exists())
            and not os.access(folder, os.W_OK | os.X_OK)
        ):
            raise SqlrankError(
                f"{self.label}: no file can be written in the folder {folder}. Change its"
                " permissions, or name another folder"
            )
        if self.real_path.exists() and not os.access(self.real_path, os.W_OK):
            raise SqlrankError(
                f"{self.label}: the file is read-only. Change its permissions, or name another file"
            )

    def _check_sources(self) -> None:
        """Raise ``SqlrankError`` if the file is an input, or matches a pattern of inputs."""
        if self.is_stream:
            return
        files = [source for source in self.sources if isinstance(source, (str, Path))]
        if self.real_path.exists():
            target = self.real_path.stat()
            for file in (file for source in files for file in list_paths(source)):
                with suppress(OSError):  # gone in the meantime
                    if os.path.samestat(target, file.stat()):
                        problem = (
                            "which would be damaged"
                            if self.appends
                            else "which its own result cannot replace"
                        )
                        raise SqlrankError(
                            f"{self.label}: this file is an input, {problem}. Name another file"
                        )
        for source in files:
            if includes_file(source, self.real_path):
                raise SqlrankError(
                    f"{self.label}: the next call would read this file as one of {str(source)!r}."
                    " Name a file elsewhere"
                )

    def check_content(self) -> None:
        """Raise ``SqlrankError`` if the file has content that must not be lost."""
        if not self.real_path.is_file():
            if (
                self.appends
                and not self.force
                and self.real_path.suffix.lower() not in TEXT_ENDINGS
            ):
                raise SqlrankError(
                    f"{self.label}: Markdown is appended to text. Name a file that ends in .md or"
                    " .txt"
                )
            return
        if self.real_path.stat().st_size == 0 or (
            self.appends and _is_step_summary(self.real_path)
        ):
            return
        if self.appends and not _is_text(self.real_path):
            raise SqlrankError(
                f"{self.label}: this file is no text, and Markdown would damage it. Name a file"
                " that ends in .md or .txt"
            )
        if self.force:
            return
        current_kind = read_file_kind(self.real_path)
        if current_kind is None:
            raise SqlrankError(
                f"{self.label}: nothing in this file says that sqlrank wrote it. {self._advice}"
            )
        if current_kind is not self.kind and current_kind is not FileKind.TABLE:
            raise SqlrankError(
                f"{self.label}: sqlrank wrote this file, of the kind '{current_kind}' and not"
                f" '{self.kind}'. {self._advice}"
            )

    @contextmanager
    def label_errors(self) -> Iterator[None]:
        """Convert operating system errors of a block to ``SqlrankError``."""
        try:
            yield
        except (SqlrankError, BrokenPipeError):  # of a pipe whose reader has enough
            raise
        except (OSError, ValueError) as error:
            error_number = error.errno if isinstance(error, OSError) else None
            reason = str(error) if error_number is None else os.strerror(error_number)
            unchanged = ". It has what it had before" if self._has_earlier_file else ""
            advice = (
                "Free space, or name another file"
                if error_number in NO_SPACE
                else "Name another file"
            )
            raise SqlrankError(
                f"{self.label}: cannot be written: {reason}{unchanged}. {advice}"
            ) from error

    @property
    def has_earlier_text(self) -> bool:
        """Return True if there is an earlier file with content."""
        return self._has_earlier_file and self.real_path.stat().st_size > 0

    @property
    def _has_earlier_file(self) -> bool:
        try:
            return not self.is_stream and self.real_path.exists()
        except (OSError, ValueError):
            return False

    def write_to_stream(self, content: Content) -> None:
        """Write to a pipe or device.

        An open descriptor is reused to keep its offset; opening it again would overwrite what a
        shell appends to.
        """
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        # A descriptor
        with open(  # noqa: PTH123
            self.real_path if self._descriptor is None else os.dup(self._descriptor), "wb"
        ) as file:
            _write_content(file, content)

    def stage(self, content: Content) -> Path:
        """Write the content to a temporary file next to the target, and return its path.

        It has the permissions of the file that it will replace.
        """
        folder = self.real_path.parent
        _remove_leftovers(folder)
        # A name that no source pattern matches; short, since the target's name may have the maximum
        # length.
        temporary = folder / f".sqlrank_{os.urandom(8).hex()}.tmp"
        clean_up_at_signal(str(temporary), lambda: temporary.unlink(missing_ok=True))
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123  a descriptor
                if self.real_path.exists():
                    _copy_permissions(self.real_path, temporary)
                _write_content(file, content)
                file.flush()
                os.fsync(descriptor)
        except BaseException:
            temporary.unlink(missing_ok=True)
            forget_cleanup(str(temporary))
            raise
        return temporary


def write_files(contents: Sequence[tuple[OutputFile, Content]]) -> None:
    """Write several files; none is replaced before all are complete.

    Raises:
        SqlrankError: a file cannot be written; its earlier content is unchanged.
    """
    staged: list[tuple[OutputFile, Path]] = []
    try:
        for file, content in contents:
            with file.label_errors():
                if file.is_stream:
                    file.write_to_stream(content)
                else:
                    staged.append((file, file.stage(content)))
        for file, _ in staged:
            with file.label_errors():
                # again, since another process may have written it in the meantime
                file.check_content()
        with hold_exit():
            for file, temporary in staged:
                with file.label_errors():
                    temporary.replace(file.real_path)
    finally:
        for _, temporary in staged:
            temporary.unlink(missing_ok=True)
            forget_cleanup(str(temporary))


def check_distinct(files: Iterable[OutputFile | None]) -> None:
    """Raise ``SqlrankError`` if two outputs of a call are one file."""
    files_by_path: dict[Path, OutputFile] = {}
    for file in filter(None, files):
        if file.is_stream:
            continue
        first_file = files_by_path.setdefault(file.real_path, file)
        if first_file is not file:
            raise SqlrankError(
                f"{first_file.label} and {file.label}: both are the same file. Name two"
            )


def write_parquet(table: pa.Table, file: IO[bytes], kind: FileKind) -> None:
    """Write a table as Parquet, with the kind of its content in the metadata."""
    import pyarrow as pa  # a third of a second that most calls have paid already, and help has not
    import pyarrow.parquet as pq

    metadata = {**(table.schema.metadata or {}), KIND_KEY: str(kind)}
    pq.write_table(table.replace_schema_metadata(metadata), pa.PythonFile(file, mode="w"))


def _write_content(file: IO[bytes], content: Content) -> None:
    if callable(content):
        content(file)
    else:
        file.write(content.encode() if isinstance(content, str) else content)


def _append_bytes(descriptor: int, data: bytes) -> None:
    """Append in one system call, so that appends of other processes do not interleave.

    A partial write is truncated again.
    """
    earlier_size = os.fstat(descriptor).st_size
    count = 0
    try:
        while count < len(data):
            count += os.write(descriptor, data[count:])
        os.fsync(descriptor)
    except BaseException:
        if os.fstat(descriptor).st_size == earlier_size + count:
            os.ftruncate(descriptor, earlier_size)
        raise


def _copy_permissions(source: Path, target: Path) -> None:
    """Copy owner, mode and access control lists of a file to another."""
    status = source.stat()
    with suppress(OSError, AttributeError):  # only root gives files away, and Windows has no owners
        os.chown(target, status.st_uid, status.st_gid)
    shutil.copystat(source, target)
    os.utime(target)


def _remove_leftovers(folder: Path) -> None:
    """Remove temporary files of killed processes."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if (
                _TEMPORARY.fullmatch(entry.name)
                and time.time() - entry.stat(follow_symlinks=False).st_mtime
                > MAX_TEMPORARY_AGE_SECONDS
            ):
                Path(entry.path).unlink(missing_ok=True)


def _is_step_summary(path: Path) -> bool:
    """Return True for the step summary file of GitHub Actions, which other steps also write."""
    summary_path = os.environ.get("GITHUB_STEP_SUMMARY", "")
    return bool(summary_path) and Path(os.path.realpath(summary_path)) == path


def _is_text(path: Path) -> bool:
    """Return True if a file begins as UTF-8 text does."""
    with path.open("rb") as file:
        start = file.read(READ_BYTES)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)  # the last character may be cut
    except UnicodeDecodeError:
        return False
    return b"\0" not in start
