"""A full disk, a kill or two processes leave the earlier file or the new one, complete, and no
temporary file that readers find.
"""

import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

import sqlrank
from sqlrank import ExecutionError, SqlrankError
from sqlrank.engines.duckdb_session import translate_duckdb_errors
from sqlrank.engines.file_sources import list_paths
from sqlrank.output.output_file import MAX_TEMPORARY_AGE_SECONDS, FileKind, OutputFile, write_files
from tests.interface.command_line import ROOT, invoke_command
from tests.interface.outputs import HEAVY, OUTPUTS, make_data

EARLIER = {FileKind.SUMMARY: b"## sqlrank gate: pass\n\nearlier\n"}
IMPORTS = """
import sys, time
from pathlib import Path
from typing import Any
from sqlrank.output import output_file as writer
from sqlrank.output.output_file import FileKind
from sqlrank.output.output_file import OutputFile
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("outputs") / "data")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@contextmanager
def limit_file_size(size: int) -> Iterator[None]:
    """Let no file of this process grow past a size in bytes, which works everywhere; Python ignores
    the signal and raises EFBIG.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def mount_small_disk(size: int) -> Iterator[Path]:
    """Mount a file system of a size in bytes; skip where that is not permitted."""
    disk = Path("disk").resolve()
    disk.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
    mounted = subprocess.run(words, check=False, capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)  # noqa: S607


def read_contents(target: Path) -> dict[str, bytes]:
    """Return the file and, of a dbt model, the one beside it, and all else that is in their
    folder.
    """
    return {
        path.name: path.read_bytes() for path in target.resolve().parent.iterdir() if path.is_file()
    }


# A full disk


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in HEAVY else []) for name in OUTPUTS],
)
def test_a_file_that_cannot_grow_is_as_it_was(name, folder):
    """An earlier file is kept to the last byte, and of a new one nothing is left."""
    output = OUTPUTS[name]
    Path("here").mkdir()
    target = Path("here") / f"x{output.ending}"
    words = output.arguments(folder / f"{output.reads}.parquet", target)
    for has_earlier in (False, True):
        if has_earlier:
            target.write_bytes(EARLIER.get(output.kind, b"earlier, by somebody else"))
        before = read_contents(target)
        with limit_file_size(100):
            result = invoke_command(*words, "--force")
        assert (result.exit_code, read_contents(target)) == (2, before), result.output
        kept = ". It has what it had before" if has_earlier else ""
        why = (
            f"{output.option} {target}: cannot be written: File too large{kept}. Free space, or"
            " name another file"
        )
        assert result.stderr.splitlines()[-1] == f"sqlrank: {why}"


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "name",
    [
        "evaluate", "evaluate a sheet", "gate --junit", "gate --summary", "chart", "sql --dbt",
        "rollup", "learn --score-table",
    ],
)  # fmt: skip
def test_a_full_disk_leaves_what_was_there(name, folder):
    output = OUTPUTS[name]
    with mount_small_disk(2 * 4096 if output.option == "--dbt" else 4096) as disk:
        target = disk / f"x{output.ending}"
        target.write_bytes(EARLIER.get(output.kind, b"") + b"earlier" * 300)
        if output.option == "--dbt":
            target.with_suffix(".yml").write_bytes(b"earlier")
        if output.option == "--summary":  # nothing is free in the last block
            target.write_bytes(target.read_bytes().ljust(4096, b"."))
        before = read_contents(target)
        result = invoke_command(
            *output.arguments(folder / f"{output.reads}.parquet", target), "--force"
        )
        assert (result.exit_code, read_contents(target)) == (2, before), result.output
        why = (
            f"{output.option} {target}: cannot be written: No space left on device. It has what it"
            " had before. Free space, or name another file"
        )
        assert result.stderr.splitlines()[-1] == f"sqlrank: {why}"


def test_of_two_files_none_is_replaced_if_one_cannot_be_written():
    files = [
        OutputFile(Path(name), FileKind.DBT_METRICS, force=True) for name in ("a.sql", "b.yml")
    ]
    write_files([(file, "1") for file in files])
    with (
        limit_file_size(10),
        pytest.raises(
            SqlrankError,
            match=r"^-o b\.yml: cannot be written: File too large. It has what it had before\.",
        ),
    ):
        write_files(list(zip(files, ("2", "2" * 11), strict=True)))
    assert read_contents(Path("a.sql")) == {"a.sql": b"1", "b.yml": b"1"}


def test_what_fails_while_it_is_computed_leaves_what_was_there():
    Path("x.csv").touch()
    file = OutputFile(Path("x.csv"), FileKind.METRICS)
    for error in (KeyboardInterrupt, SystemExit, ZeroDivisionError):

        def fails(stream, error=error):
            stream.write(b"half")  # type: ignore[attr-defined]
            raise error

        with pytest.raises(error):
            file.write(fails)
        assert read_contents(Path("x.csv")) == {"x.csv": b""}


def test_a_full_disk_is_named_by_statements_that_write():
    with (
        limit_file_size(4096),
        duckdb.connect() as duck,
        pytest.raises(
            ExecutionError, match=r"Could not write file .* Free space, or name another disk: "
        ),
        translate_duckdb_errors(),
    ):
        duck.execute("COPY (SELECT range AS x FROM RANGE(100000)) TO 'x.csv'")


def test_a_full_disk_adds_nothing_to_a_table(folder):
    """DuckDB fails at the commit, as at a conflict of transactions, which has another remedy."""
    with duckdb.connect("x.duckdb") as duck:
        options = {"predictions": f"{folder}/predictions.parquet", "insert": "t"}
        with (
            limit_file_size(4096),
            pytest.raises(ExecutionError, match=r"^insert: nothing was added to t: .* Free space"),
        ):
            sqlrank.rollup("AUC", connection=duck, **options)
        assert duck.execute("SHOW TABLES").fetchall() == []
        assert sqlrank.rollup("AUC", connection=duck, **options).num_rows


# A kill


KILLED = {
    "in the middle of the content": (
        """
def slow(file):
    file.write(b"half of it"); file.flush(); print("now", flush=True); time.sleep(60)
OutputFile(Path("x.csv"), FileKind.METRICS, force=True).write(slow)
"""
    ),
    "before the file is replaced": (
        """
writer.os.fsync = lambda descriptor: (print("now", flush=True), time.sleep(60))
OutputFile(Path("x.csv"), FileKind.METRICS, force=True).write("all of it")
"""
    ),
    "after the file is replaced": (
        """
OutputFile(Path("x.csv"), FileKind.METRICS, force=True).write("all of it")
print("now", flush=True); time.sleep(60)
"""
    ),
}


@pytest.mark.parametrize("when", KILLED)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_kill_leaves_one_file_or_the_other(when, number):
    Path("x.csv").write_text("earlier")
    words = [sys.executable, "-c", IMPORTS + KILLED[when]]
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"now\n"
        process.send_signal(number)
    assert process.returncode != 0
    assert Path("x.csv").read_text() == ("all of it" if when.startswith("after") else "earlier")
    left = [path for path in Path().iterdir() if path.name != "x.csv"]
    is_left = number is signal.SIGKILL and not when.startswith("after")
    assert [bool(re.fullmatch(r"\.sqlrank_\w{16}\.tmp", path.name)) for path in left] == [
        True
    ] * is_left
    assert list_paths(".") == [Path("x.csv")]


def test_what_a_killed_process_left_is_removed_a_day_later():
    old, new, other = (
        Path(f".sqlrank_{'0' * 16}.tmp"),
        Path(f".sqlrank_{'1' * 16}.tmp"),
        Path(".sqlrank_mine"),
    )
    then = time.time() - MAX_TEMPORARY_AGE_SECONDS - 1
    for path in (old, new, other):
        path.touch()
    for path in (old, other):
        os.utime(path, (then, then))
    OutputFile(Path("x.csv"), FileKind.METRICS).write("1")
    assert [path.exists() for path in (old, new, other)] == [False, True, True]


# Two writers


WRITES = """
for _ in range(60):
    OutputFile(Path("x.csv"), FileKind.METRICS, force=True).write(sys.argv[1] * 300_000)
"""
APPENDS = """
for _ in range(60):
    OutputFile(Path("x.md"), FileKind.SUMMARY, "--summary", appends=True).append(f"## sqlrank gate: {sys.argv[1] * 20_000}\\n")
"""


def start_script(script: str, letter: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", IMPORTS + script, letter], env=os.environ | {"PYTHONPATH": str(ROOT)}
    )


@pytest.mark.slow
def test_two_writers_leave_the_file_of_one():
    Path("x.csv").write_text("c" * 300_000)
    writers = [start_script(WRITES, letter) for letter in "ab"]
    seen = set()
    while any(process.poll() is None for process in writers):
        text = Path("x.csv").read_text()
        assert len(text) == 300_000
        assert len(set(text[::1000])) == 1
        seen.add(text[0])
    assert [process.returncode for process in writers] == [0, 0]
    assert seen & {"a", "b"}
    assert list(read_contents(Path("x.csv"))) == ["x.csv"]


@pytest.mark.slow
def test_two_processes_append_one_after_the_other():
    writers = [start_script(APPENDS, letter) for letter in "ab"]
    assert [process.wait() for process in writers] == [0, 0]
    lines = [
        line.removeprefix("## sqlrank gate: ") for line in Path("x.md").read_text().splitlines()
    ]
    assert {(len(line), len(set(line))) for line in lines} == {(20_000, 1)}
    assert sorted(line[0] for line in lines) == ["a"] * 60 + ["b"] * 60


def test_a_file_that_somebody_else_writes_in_the_meantime_is_not_replaced():
    file = OutputFile(Path("x.csv"), FileKind.METRICS)
    Path("x.csv").write_text("mine")
    with pytest.raises(
        SqlrankError, match=r"^-o x\.csv: nothing in this file says that sqlrank wrote it"
    ):
        file.write("1")
    assert read_contents(Path("x.csv")) == {"x.csv": b"mine"}


def test_a_summary_takes_back_what_did_not_fit(monkeypatch):
    """In the file that it was, which a shell may have open."""
    Path("x.md").write_text("# Mine\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "x.md")
    inode = Path("x.md").stat().st_ino
    file = OutputFile(Path("x.md"), FileKind.SUMMARY, "--summary", appends=True)
    with (
        limit_file_size(20),
        pytest.raises(
            SqlrankError,
            match=(
                r"^--summary x\.md: cannot be written: File too large. It has what it had before\."
            ),
        ),
    ):
        file.append("## sqlrank gate: pass\n")
    assert (Path("x.md").read_text(), Path("x.md").stat().st_ino) == ("# Mine\n", inode)
    file.append("## sqlrank gate: pass\n")
    assert (Path("x.md").read_text(), Path("x.md").stat().st_ino) == (
        "# Mine\n## sqlrank gate: pass\n",
        inode,
    )
