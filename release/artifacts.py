"""The files of a release: built twice to the same bytes, checked, installed without git, with an
SBOM, notes and hashes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from release.interpreters import find_interpreter, read_supported
from release.preparation import read_version
from sqlrank.errors import ContractError, ExecutionError

if TYPE_CHECKING:
    from collections.abc import Iterable

WHEEL_PATHS = r"sqlrank/.+\.(pyi?|sql|toml|j2|css|js)|sqlrank/(sql/\w+|docs/[\w/-]+)\.md|sqlrank/py\.typed|sqlrank-[\d.]+\.dist-info/.+"  # noqa: E501
SDIST_PATHS = r"(sqlrank|sql|docs)/.+|README\.md|LICENSE|CHANGELOG\.md|CITATION\.cff|SECURITY\.md|pyproject\.toml|PKG-INFO|\.gitignore"  # noqa: E501
UNWANTED = r"(^|/)(tests?|benchmarks|examples|website|release|__pycache__|\.git|\.venv|\.cache)(/|$)|\.(parquet|duckdb|csv|pyc|so|log)$|(^|/)\.env"  # noqa: E501
"""Patterns of files that a wheel and an sdist have, and of those that neither has."""

MAX_BYTES = {".whl": 2_000_000, ".gz": 4_000_000}
TREC_VALUE = "0.3015771992102"
"""nDCG@10 of the collection of trec_eval."""

CALL = (
    "import sqlrank; print(sqlrank.evaluate('AUC', predictions={'label': [0, 1], 'score': [0.1,"
    " 0.7]})['AUC'][0].as_py())"
)


def run_program(*words: str | Path, cwd: Path | None = None, **environment: str) -> str:
    """Return the output of a program; raise ``ExecutionError`` with its output if it fails."""
    done = subprocess.run(
        [str(word) for word in words],
        check=False,
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **environment},
    )
    if done.returncode:
        raise ExecutionError(
            f"{' '.join(map(str, words))} ended with status {done.returncode}:",
            *done.stdout.splitlines(),
            *done.stderr.splitlines(),
        )
    return done.stdout


def build_twice(root: Path, scratch: Path, day: str) -> list[Path]:
    """Return the sdist and the wheel of a tree; raise ``ContractError`` unless two builds give the
    same bytes.

    The time of all files is the day of the release.
    """
    epoch = str(int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()))
    built: list[dict[str, Path]] = []
    for name in ("first", "second"):
        run_program(
            sys.executable,
            "-m",
            "build",
            "--no-isolation",
            "--outdir",
            scratch / name,
            root,
            SOURCE_DATE_EPOCH=epoch,
            PYTHONHASHSEED=str(1 + len(built)),
        )
        built.append({path.name: path for path in sorted((scratch / name).iterdir())})
    first, second = built
    if different := [
        name
        for name in {**first, **second}
        if file_hash(first.get(name)) != file_hash(second.get(name))
    ]:
        raise ContractError(f"two builds gave different bytes for {', '.join(different)}")
    return list(first.values())


def file_hash(path: Path | None) -> str:
    """Return the SHA-256 of a file, empty without one."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path else ""


def list_files(archive: Path) -> list[str]:
    """Return the files of a wheel, or of an sdist below its folder."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return [name for name in wheel.namelist() if not name.endswith("/")]
    with tarfile.open(archive) as sdist:
        return [
            str(PurePosixPath(*PurePosixPath(member.name).parts[1:]))
            for member in sdist.getmembers()
            if member.isfile()
        ]


def find_problems(archive: Path, sql_files: Iterable[str]) -> list[str]:
    """Return the problems of the contents or the size of an archive.

    Args:
        archive: a wheel or an sdist.
        sql_files: the files of ``sql/``, which both have.
    """
    names = list_files(archive)
    is_wheel = archive.suffix == ".whl"
    path_pattern = re.compile(WHEEL_PATHS if is_wheel else SDIST_PATHS)
    problems = [
        f"{name} does not belong in it"
        for name in names
        if not path_pattern.fullmatch(name) or re.search(UNWANTED, name)
    ]
    expected = [f"{'sqlrank/' if is_wheel else ''}sql/{name}" for name in sql_files] + [
        "sqlrank/py.typed",
        "sqlrank/__main__.py",
    ]
    problems += [f"{name} is missing" for name in expected if name not in names]
    if not any(PurePosixPath(name).name == "LICENSE" for name in names):
        problems.append("LICENSE is missing")
    if archive.stat().st_size > MAX_BYTES[archive.suffix]:
        problems.append(
            f"it has {archive.stat().st_size:,} bytes, more than {MAX_BYTES[archive.suffix]:,}"
        )
    return [f"{archive.name}: {problem}" for problem in problems]


def check_archives(archives: list[Path], root: Path) -> None:
    """Raise ``ContractError`` for archives with other files than the package, too large ones, or
    invalid metadata.
    """
    sql_files = [
        path.relative_to(root / "sql").as_posix()
        for path in sorted((root / "sql").rglob("*"))
        if path.suffix in {".sql", ".toml"}
    ]
    if problems := [
        problem for archive in archives for problem in find_problems(archive, sql_files)
    ]:
        raise ContractError(*problems)
    run_program(sys.executable, "-m", "twine", "check", "--strict", *archives)


def install_archive(archive: Path, folder: Path, interpreter: str | Path = sys.executable) -> Path:
    """Install an archive in a new environment without git, evaluate metrics in it, and return its
    interpreter.

    Args:
        archive: a wheel or an sdist.
        folder: folder of the environment, which is made.
        interpreter: the Python of the environment.
    """
    run_program(interpreter, "-m", "venv", folder)
    path = str(folder / "bin")
    python = folder / "bin" / "python"
    run_program(
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        archive,
        PATH=path,
        cwd=folder,
    )
    printed = run_program(python, "-c", CALL, PATH=path, PYTHONPATH="", cwd=folder).strip()
    if printed != "1.0":
        raise ContractError(
            f"{archive.name}: AUC is {printed} after installation, and should be 1.0"
        )
    data = Path(__file__).parents[1] / "examples" / "data" / "trec_eval"
    files: list[str | Path] = ["--run", data / "results.test", "--qrels", data / "qrels.test"]
    printed = run_program(
        folder / "bin" / "sqlrank",
        "evaluate",
        "nDCG@10",
        *files,
        "--format",
        "csv",
        PATH=path,
        PYTHONPATH="",
        cwd=folder,
    )
    if not printed.startswith(f"nDCG@10\n{TREC_VALUE}"):
        raise ContractError(
            f"{archive.name}: the command prints {printed!r}, and should print {TREC_VALUE}"
        )
    return python


def check_interpreters(wheel: Path, root: Path, scratch: Path) -> tuple[list[str], list[str]]:
    """Install the wheel on each version of Python that the package names and that is at hand.

    Returns:
        The versions on which it gave the numbers, and those without an interpreter.
    """
    interpreters = {version: find_interpreter(version) for version in read_supported(root)}
    for version, interpreter in interpreters.items():
        if interpreter:
            install_archive(wheel, scratch / f"venv-{version}", interpreter)
    return [version for version, path in interpreters.items() if path], [
        version for version, path in interpreters.items() if not path
    ]


def write_sbom(python: Path, root: Path, target: Path, day: str) -> dict[str, Any]:
    """Write the software bill of materials of an environment as CycloneDX JSON, and return it; its
    pip is uninstalled.
    """
    run_program(
        python,
        "-m",
        "pip",
        "uninstall",
        "--quiet",
        "--yes",
        "--disable-pip-version-check",
        "setuptools",
        "pip",
    )
    epoch = str(int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()))
    program = Path(sys.executable).with_name("cyclonedx-py")
    options: list[str | Path] = [
        "--pyproject",
        root / "pyproject.toml",
        "--mc-type",
        "library",
        "--output-reproducible",
        "--of",
        "JSON",
        "-o",
        target,
    ]
    run_program(program, "environment", *options, python, SOURCE_DATE_EPOCH=epoch)
    bill: dict[str, Any] = json.loads(target.read_text("utf-8"))
    bill["metadata"]["component"]["version"] = read_version(
        root
    )  # pyproject.toml reads it from a file
    target.write_text(json.dumps(bill, indent=2) + "\n", "utf-8")
    return bill


def write_hashes(files: list[Path], target: Path) -> None:
    """Write the SHA-256 of each file, in the form that ``sha256sum --check`` reads."""
    target.write_text("".join(f"{file_hash(path)}  {path.name}\n" for path in files), "utf-8")
