"""No output replaces an input, a foreign file or a file of another kind, and an unwritable path
raises an error before any work.
"""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank import SqlrankError
from sqlrank.charts.export import save_chart
from sqlrank.output.output_file import FileKind, read_file_kind
from sqlrank.output.result_formats import as_excel
from sqlrank.reports.report import Report
from tests.interface.command_line import ROOT, invoke_command, run_refused_command
from tests.interface.outputs import CONTENTS, HEAVY, OUTPUTS, READING, make_data
from tests.tables import build_table

INPUT = "this file is an input, which its own result cannot replace. Name another file"
DAMAGED = "this file is an input, which would be damaged. Name another file"
FOREIGN = (
    "nothing in this file says that sqlrank wrote it. Replace it with --force, or name another file"
)
VERDICTS = {0, 1, 3}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("outputs") / "data")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make_linked_input(folder: Path, name: str) -> Path:
    """Make a folder ``in`` with one input, which is hidden from no reader."""
    Path("in").mkdir()
    source = Path("in") / f"{name}.parquet"
    source.write_bytes((folder / f"{name}.parquet").read_bytes())
    Path("symbolic.parquet").symlink_to(source)
    Path("hard.parquet").hardlink_to(source)
    return source


# Inputs


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", READING)
def test_no_output_replaces_an_input(name, folder):
    output = READING[name]
    source = make_linked_input(folder, output.reads)
    before = source.read_bytes()
    message = DAMAGED if output.option == "--summary" else INPUT
    for named in (
        source,
        "in/*.parquet",
        "in",
        "in/",
        "**/*.parquet",
        "symbolic.parquet",
        Path("in").resolve(),
    ):
        for target in (source, "symbolic.parquet", "hard.parquet", source.resolve()):
            assert (
                run_refused_command(*output.arguments(named, target), "--force")
                == f"sqlrank: {output.option} {target}: {message}\n"
            )
    assert source.read_bytes() == before


@pytest.mark.parametrize("name", READING)
def test_no_output_becomes_an_input_of_the_next_call(name, folder):
    output = READING[name]
    make_linked_input(folder, output.reads)
    for named, target in (
        ("in", f"in/new{output.ending}"),
        (f"in/*{output.ending}", f"in/new{output.ending}"),
    ):
        said = run_refused_command(*output.arguments(named, target), "--force")
        assert (
            said
            == f"sqlrank: {output.option} {target}: the next call would read this file as one of"
            f" {named!r}. Name a file elsewhere\n"
        )
    assert [path.name for path in Path("in").iterdir()] == [f"{output.reads}.parquet"]


@pytest.mark.parametrize(
    "option",
    [
        ("--qrels", "x"),
        ("--queries", "x"),
        ("--run", "x"),
        ("--run", "a=x"),
        ("--input", "items=x"),
        ("--rollup", "x"),
        ("--db", "x"),
    ],
)
def test_every_option_with_a_source_is_an_input(option):
    Path("x").write_text("1")
    said = run_refused_command(
        "evaluate",
        "AUC",
        "--predictions",
        "clicks",
        *option,
        "-o",
        "x",
        "--format",
        "csv",
        "--force",
    )
    assert said == f"sqlrank: -o x: {INPUT}\n"


def test_files_of_a_folder_of_sql_are_inputs():
    Path("own/metrics").mkdir(parents=True)
    file = Path("own/metrics/mine.sql")
    file.write_text("SELECT 1")
    for words in (
        ("sql", "AUC", "--predictions", "clicks", "--dbt"),
        ("evaluate", "AUC", "--predictions", "x", "--format", "csv", "-o"),
    ):
        assert run_refused_command(*words, file, "--sql-dir", "own", "--force").endswith(
            f"{file}: {INPUT}\n"
        )
        assert "the next call would read this file" in run_refused_command(
            *words, "own/metrics/new.sql", "--sql-dir", "own", "--force"
        )
    assert file.read_text() == "SELECT 1"


def test_the_baseline_and_the_stored_result_are_inputs():
    pq.write_table(build_table(x="1"), "base.parquet")
    gate = ("gate", "AP", "--run", "r", "--qrels", "q", "--baseline", "base.parquet", "--force")
    for option, message in (("-o", INPUT), ("--junit", INPUT), ("--summary", DAMAGED)):
        assert (
            run_refused_command(*gate, option, "base.parquet")
            == f"sqlrank: {option} base.parquet: {message}\n"
        )
    assert (
        run_refused_command("chart --result base.parquet -o base.parquet --force")
        == f"sqlrank: -o base.parquet: {INPUT}\n"
    )


def test_files_that_no_folder_reads_are_no_inputs(folder):
    make_linked_input(folder, "predictions")
    assert invoke_command("evaluate AUC --predictions in -o in/.hidden.parquet").exit_code == 0
    assert invoke_command("evaluate AUC --predictions in -o in/_result.parquet").exit_code == 0


# Files of others, and of other kinds


@pytest.mark.parametrize("name", OUTPUTS)
def test_no_output_replaces_a_file_of_others(name, folder):
    output = OUTPUTS[name]
    target = Path(f"notes{output.ending}")
    target.write_text("my notes")
    way = FOREIGN.replace("Replace it", "Append to it") if output.option == "--summary" else FOREIGN
    assert (
        run_refused_command(*output.arguments(folder / f"{output.reads}.parquet", target))
        == f"sqlrank: {output.option} {target}: {way}\n"
    )
    assert target.read_text() == "my notes"


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in HEAVY else []) for name in OUTPUTS],
)
def test_each_output_says_its_kind_and_is_replaced_by_itself(name, folder):
    output = OUTPUTS[name]
    target = Path(f"own{output.ending}")
    words = output.arguments(folder / f"{output.reads}.parquet", target)
    for _ in range(2):
        result = invoke_command(*words)
        assert result.exit_code in VERDICTS, result.stderr
        assert read_file_kind(target) == output.kind
    if output.option == "--dbt":
        assert read_file_kind(target.with_suffix(".yml")) == FileKind.DBT_PROPERTIES
    assert list(Path().glob(".*")) == []


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", OUTPUTS)
def test_no_output_replaces_another_kind(name, folder):
    output = OUTPUTS[name]
    target = Path(f"own{output.ending}")
    others = [kind for kind in FileKind if kind not in {output.kind, FileKind.TABLE}]
    for kind in others:
        if kind in CONTENTS:
            target.write_text(CONTENTS[kind][0])
        else:
            metadata = {"sqlrank.version": "1.0", "sqlrank.kind": str(kind)}
            pq.write_table(build_table(x="1").replace_schema_metadata(metadata), target)
        before = target.read_bytes()
        said = run_refused_command(*output.arguments(folder / f"{output.reads}.parquet", target))
        if output.option == "--summary" and kind not in CONTENTS:
            assert "this file is no text, and Markdown would damage it" in said
        else:
            verb = "Append to" if output.option == "--summary" else "Replace"
            problem = f"sqlrank wrote this file, of the kind '{kind}' and not '{output.kind}'"
            assert (
                said
                == f"sqlrank: {output.option} {target}: {problem}. {verb} it with --force, or name"
                " another file\n"
            )
        assert target.read_bytes() == before


def test_kinds_of_texts():
    for kind, texts in CONTENTS.items():
        for text in texts:
            Path("x").write_text(text)
            assert read_file_kind(Path("x")) == kind
    for text in ("", "PAR1", "PK", "%PDF-1", "SELECT 1", "<html>", "# notes"):
        Path("x").write_text(text)
        assert read_file_kind(Path("x")) is None


@pytest.mark.slow
def test_damaged_files_are_files_of_others():
    """Whatever their readers raise."""
    table = build_table(x="1 2").replace_schema_metadata(
        {"sqlrank.version": "1.0", "sqlrank.kind": "rollup"}
    )
    pq.write_table(table, "x.parquet")
    rng = np.random.default_rng(1)
    for content in (Path("x.parquet").read_bytes(), as_excel(table, kind="rollup")):
        for case in range(400):
            damaged = bytearray(content)
            for place in rng.integers(4, len(content), 4):
                damaged[place] = rng.integers(256)
            Path("damaged").write_bytes(
                damaged[: rng.integers(4, len(content))] if case % 3 == 0 else damaged
            )
            assert read_file_kind(Path("damaged")) in {None, FileKind.ROLLUP, FileKind.TABLE}


def test_a_rollup_of_an_earlier_version_is_recognized(folder):
    """It has no kind in its metadata, as one that Arrow saved from Python."""
    Path("rollup.parquet").write_bytes((folder / "rollup.parquet").read_bytes())
    assert read_file_kind(Path("rollup.parquet")) == FileKind.ROLLUP
    pq.write_table(
        sqlrank.evaluate("AUC", predictions=str(folder / "predictions.parquet")), "result.parquet"
    )
    assert read_file_kind(Path("result.parquet")) == FileKind.TABLE
    words = ("evaluate", "AUC", "--predictions", folder / "predictions.parquet", "-o")
    assert "of the kind 'rollup' and not 'metrics'" in run_refused_command(*words, "rollup.parquet")
    assert invoke_command(*words, "result.parquet").exit_code == 0
    assert invoke_command(*words, "rollup.parquet", "--force").exit_code == 0
    assert read_file_kind(Path("rollup.parquet")) == FileKind.METRICS


def test_both_files_of_a_dbt_model_are_looked_at_first():
    words = ("sql", "AUC", "--predictions", "clicks", "--dbt", "daily.sql")
    Path("daily.yml").write_text("version: 2")
    assert run_refused_command(*words) == f"sqlrank: --dbt daily.yml: {FOREIGN}\n"
    assert not Path("daily.sql").exists()


# Summaries


@pytest.mark.slow
def test_a_summary_is_appended_to_text_of_its_own(folder, monkeypatch):
    words = OUTPUTS["gate --summary"].arguments(folder / "predictions.parquet", "")[:-1]
    for _ in range(2):
        assert invoke_command(*words, "new.md").exit_code in VERDICTS
    assert Path("new.md").read_text().count("## sqlrank gate: ") == 2
    Path("empty").touch()
    assert invoke_command(*words, "empty").exit_code in VERDICTS
    Path("other.md").write_text("# Mine\n")
    assert "Append to it with --force, or name another file" in run_refused_command(
        *words, "other.md"
    )
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(Path("other.md").resolve()))
    assert invoke_command(*words, "other.md").exit_code in VERDICTS
    assert Path("other.md").read_text().startswith("# Mine\n## sqlrank gate: ")
    Path("third.md").write_text("# Mine\n")
    assert invoke_command(*words, "third.md", "--force").exit_code in VERDICTS
    assert (
        run_refused_command(*words, "new.parquet")
        == "sqlrank: --summary new.parquet: Markdown is appended to text. Name a file that ends in"
        " .md or .txt\n"
    )


def test_a_summary_damages_no_data(folder):
    words = OUTPUTS["gate --summary"].arguments(folder / "predictions.parquet", "")[:-1]
    pq.write_table(build_table(x="1"), "other.parquet")
    Path("other.csv").write_text("a,b\n1,2\n")
    message = (
        "this file is no text, and Markdown would damage it. Name a file that ends in .md or .txt"
    )
    for force in ((), ("--force",)):
        assert (
            run_refused_command(*words, "other.parquet", *force)
            == f"sqlrank: --summary other.parquet: {message}\n"
        )
    assert "Append to it with --force" in run_refused_command(*words, "other.csv")
    assert pq.read_table("other.parquet").to_pylist() == [{"x": 1}]
    assert Path("other.csv").read_text() == "a,b\n1,2\n"


# Where no file can be written


@pytest.mark.parametrize("name", OUTPUTS)
def test_where_no_file_can_be_written_is_found_before_any_work(name):
    """The source is not there, which the work would find."""
    output = OUTPUTS[name]
    Path("file").touch()
    loop = Path(f"loop{output.ending}")
    loop.symlink_to(loop)
    Path(f"folder{output.ending}").mkdir()
    problems = {
        f"no/x{output.ending}": (
            f"there is no folder {Path('no').resolve()}. Make it, or name another file"
        ),
        f"file/x{output.ending}": f"{Path('file').resolve()} is no folder. Name another file",
        f"folder{output.ending}": "a folder. Name a file in it",
        str(loop): "a symbolic link that leads to itself. Name another file",
        f"{'x' * 300}{output.ending}": "cannot be written: File name too long. Name another file",
    }
    for target, problem in problems.items():
        assert (
            run_refused_command(*output.arguments("absent.parquet", target))
            == f"sqlrank: {output.option} {target}: {problem}\n"
        )


CANNOT_WRITE = """
import os, sys
from pathlib import Path
from sqlrank.output.output_file import OutputFile
from sqlrank.output.output_file import FileKind
if os.getuid() == 0:
    os.setuid(65534)  # root writes anywhere
for name in sys.argv[1:]:
    try:
        OutputFile(Path(name), FileKind.METRICS)
    except ValueError as error:
        print(error)
"""


CANNOT_OPEN = """
import os, sys
import sqlrank
from sqlrank.errors import SqlrankError
if os.getuid() == 0:
    sqlrank.evaluate("AUC", predictions={"label": [1], "score": [1]})
    os.setuid(65534)  # root opens anything
call = {"predictions": "rows"}
for options in (
    {"predictions": "secret.csv"},
    {"predictions": "secret.parquet"},
    {"predictions": "parts"},
    {**call, "connection": "secret.duckdb"},
    {**call, "connection": "rows.duckdb", "insert": "r"},
    {"predictions": "rows.csv", "connection": "locked/new.duckdb", "insert": "r"},
    {"predictions": "rows.csv", "temp_directory": "locked"},
):
    try:
        (sqlrank.rollup if "insert" in options else sqlrank.evaluate)("AUC", **options)
    except SqlrankError as error:
        print(error)
"""


def test_inputs_and_folders_without_permission(tmp_path):
    for path in (tmp_path, *tmp_path.parents):
        if Path(tempfile.gettempdir()) in path.parents:
            path.chmod(0o755)
    (tmp_path / "parts").mkdir()
    rows = "SELECT 1 AS label, 0.5 AS score"
    for name in ("secret.csv", "secret.parquet", "parts/a.csv", "parts/b.csv", "rows.csv"):
        duckdb.sql(f"COPY ({rows}) TO '{tmp_path / name}'")
    for name in ("secret", "rows"):
        with duckdb.connect(tmp_path / f"{name}.duckdb") as connection:
            connection.execute(f"CREATE TABLE rows AS {rows}")
    for name in ("secret.csv", "secret.parquet", "secret.duckdb", "parts/b.csv"):
        (tmp_path / name).chmod(0)
    (tmp_path / "rows.duckdb").chmod(0o444)
    (tmp_path / "locked").mkdir(mode=0o555)
    done = subprocess.run(
        [sys.executable, "-c", CANNOT_OPEN],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    unreadable = "cannot be read: Permission denied. Change its permissions, or give a copy"
    denied = (
        "Permission denied. Change its permissions, or name another, such as a copy that you may"
        " write"
    )
    assert done.stdout.splitlines() == [
        f"predictions: 'secret.csv' {unreadable}",
        f"predictions: 'secret.parquet' {unreadable}",
        f"predictions: 'parts/b.csv' {unreadable}",
        (
            "cannot open 'secret.duckdb' as a DuckDB file: IO Error: Cannot open file"
            f' "{tmp_path}/secret.duckdb": {denied}'
        ),
        (
            "insert: nothing was added to r: IO Error: Cannot open file"
            f' "{tmp_path}/rows.duckdb": {denied}'
        ),
        (
            "insert: nothing was added to r: IO Error: Cannot open file"
            f' "{tmp_path}/locked/new.duckdb": {denied}'
        ),
        (
            "temp_directory='locked' is not possible: it is read-only. Name a folder that can be"
            " written to"
        ),
    ]


def test_folders_and_files_without_permission(tmp_path):
    """Of a file that is read-only only the folder would have to be written to, by a rename."""
    for path in (tmp_path, *tmp_path.parents):
        if Path(tempfile.gettempdir()) in path.parents:
            path.chmod(0o755)
    locked, open_folder = tmp_path / "locked", tmp_path / "open"
    locked.mkdir(mode=0o555)
    open_folder.mkdir()
    open_folder.chmod(0o777)
    (open_folder / "kept.csv").touch()
    (open_folder / "kept.csv").chmod(0o444)
    names = [str(locked / "x.csv"), str(open_folder / "kept.csv")]
    done = subprocess.run(
        [sys.executable, "-c", CANNOT_WRITE, *names],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.stdout.splitlines() == [
        (
            f"-o {names[0]}: no file can be written in the folder {locked}. Change its permissions,"
            " or name another folder"
        ),
        f"-o {names[1]}: the file is read-only. Change its permissions, or name another file",
    ]


# From Python


def save_output(kind: str, path: str, **options: Any) -> None:
    if kind == "report":
        Report("title", CONTENTS[FileKind.REPORT][0]).save(path, **options)
    else:
        scores = build_table(label="0 1 0 1", score="0.1 0.4 0.5 0.8")
        save_chart(sqlrank.chart(sqlrank.evaluate("ROC", predictions=scores)), path, **options)


@pytest.mark.parametrize("kind", ["report", "chart"])
def test_python_is_answered_with_keywords(kind):
    name = "x.html" if kind == "report" else "x.json"
    Path(name).write_text("mine")
    way = "Replace it with force=True, or name another file"
    with pytest.raises(SqlrankError) as caught:
        save_output(kind, name)
    assert (
        str(caught.value)
        == f"path={name!r}: nothing in this file says that sqlrank wrote it. {way}"
    )
    assert Path(name).read_text() == "mine"
    other = FileKind.CHART if kind == "report" else FileKind.REPORT
    Path(name).write_text(CONTENTS[other][-1])
    with pytest.raises(SqlrankError) as caught:
        save_output(kind, name)
    assert (
        str(caught.value)
        == f"path={name!r}: sqlrank wrote this file, of the kind '{other}' and not '{kind}'. {way}"
    )
    save_output(kind, name, force=True)
    save_output(kind, name)
    assert read_file_kind(Path(name)) == kind
    with pytest.raises(SqlrankError) as caught:
        save_output(kind, "no/x.html")
    assert (
        str(caught.value)
        == f"path='no/x.html': there is no folder {Path('no').resolve()}. Make it, or name another"
        " file"
    )
    with pytest.raises(
        SqlrankError, match=r"^path='a\\x00b\.html' is not possible: .* holds a character"
    ):
        save_output(kind, "a\0b.html")


# Links, permissions and streams


def test_links_and_permissions_are_preserved(folder):
    words = (
        "evaluate", "AUC", "--predictions", folder / "predictions.parquet", "--format", "csv",
        "--force", "-o",
    )  # fmt: skip
    Path("real").mkdir()
    Path("real/x.csv").write_text("old")
    Path("real/x.csv").chmod(0o640)
    Path("link.csv").symlink_to("real/x.csv")
    Path("dangling.csv").symlink_to("real/y.csv")
    before = os.umask(0o027)
    try:
        for name in ("link.csv", "dangling.csv", "new.csv"):
            assert invoke_command(*words, name).exit_code == 0
    finally:
        os.umask(before)
    assert Path("link.csv").is_symlink()
    assert Path("dangling.csv").is_symlink()
    assert Path("real/x.csv").read_text().startswith("AUC\n")
    assert [
        Path(name).stat().st_mode & 0o777 for name in ("real/x.csv", "real/y.csv", "new.csv")
    ] == [0o640, 0o640, 0o640]
    assert sorted(path.name for path in Path("real").iterdir()) == ["x.csv", "y.csv"]


def test_a_stream_is_written_to_as_it_is(folder):
    """Files that a shell appends to are neither replaced nor overwritten."""
    script = (
        "[OutputFile(Path(name), FileKind.METRICS).write(f'{name}\\n') for name in ('/dev/stdout',"
        " 'link.csv', '/proc/self/fd/1')]"
    )
    names = (
        "from pathlib import Path; from sqlrank.output.output_file import FileKind; from"
        " sqlrank.output.output_file import OutputFile"
    )
    Path("link.csv").symlink_to("/dev/stdout")
    with Path("log.txt").open("w") as log:
        log.write("before\n")
        log.flush()
        subprocess.run(
            [sys.executable, "-c", f"{names}; {script}"],
            check=True,
            stdout=log,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        log.seek(0, os.SEEK_END)
        log.write("after\n")
    assert Path("log.txt").read_text() == "before\n/dev/stdout\nlink.csv\n/proc/self/fd/1\nafter\n"
    os.mkfifo("pipe.csv")
    with ThreadPoolExecutor(1) as readers:
        text = readers.submit(Path("pipe.csv").read_text)
        words = (
            "evaluate", "Positives", "--predictions", folder / "predictions.parquet", "-o",
            "pipe.csv",
        )  # fmt: skip
        assert invoke_command(*words).exit_code == 0
        assert text.result(10) == "Positives\n40.0\n"
    assert Path("pipe.csv").is_fifo()
