"""The documentation has a folder per version, and a switch that lists them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = f"""INHERIT: {ROOT}/mkdocs.yml
docs_dir: docs
hooks: []
watch: []
extra_css: []
plugins: [search, offline]
nav: [Home: index.md]
theme:
  custom_dir: {ROOT}/website/theme
"""
"""The configuration of the site, with one page in place of its own."""


def run(*words: str, cwd: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    identity = {
        f"GIT_{role}_{part}": "a@example.org"
        for role in ("AUTHOR", "COMMITTER")
        for part in ("NAME", "EMAIL")
    }
    done = subprocess.run(
        words,
        check=False,
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **identity, "PATH": path, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_two_versions_have_folders_and_a_switch(tmp_path):
    pytest.importorskip("mike", reason="needs mike, of the extra docs")
    commands = [
        line.partition("$(BIN)/mike ")[2].split()
        for line in (ROOT / "Makefile").read_text("utf-8").splitlines()
        if "$(BIN)/mike " in line
    ]
    assert len(commands) == 2
    (tmp_path / "mkdocs.yml").write_text(PAGES)
    (tmp_path / "docs").mkdir()
    run("git", "init", "--quiet", cwd=tmp_path)
    run("git", "commit", "--quiet", "--allow-empty", "--message", "First", cwd=tmp_path)
    for version in ("1.0.0", "1.1.0"):
        (tmp_path / "docs" / "index.md").write_text(f"# Pages of {version}\n")
        for words in commands:
            run("mike", *(word.replace("$(VERSION)", version) for word in words), cwd=tmp_path)
    site = tmp_path / "published"
    run("git", "worktree", "add", "--quiet", str(site), "gh-pages", cwd=tmp_path)
    assert json.loads((site / "versions.json").read_text("utf-8")) == [
        {"version": "1.1.0", "title": "1.1.0", "aliases": ["latest"]},
        {"version": "1.0.0", "title": "1.0.0", "aliases": []},
    ]
    assert 'window.location.replace(\n      "latest/"' in (site / "index.html").read_text("utf-8")
    for folder, version in (("1.0.0", "1.0.0"), ("1.1.0", "1.1.0"), ("latest", "1.1.0")):
        text = (site / folder / "index.html").read_text("utf-8")
        assert f"Pages of {version}" in text
        assert '"version": {"default": "latest", "provider": "mike"}' in text
