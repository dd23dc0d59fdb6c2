"""The action at the top of the repository: its steps are run as a runner of GitHub runs them, in a
repository made for it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

import sqlrank

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
BASH = str(shutil.which("bash"))
METRICS = ["nDCG@10", "Mean(faithfulness)", "Mean(latency_ms)"]


class GitHub(ThreadingHTTPServer):
    """Comments of a pull request, as the API of GitHub holds them; a token that may not write is
    refused.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.comments: list[dict[str, Any]] = [{"id": 1, "body": "Nice!"}]
        self.requests: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """The part of the API that the action uses."""

    server: GitHub

    def answer(self) -> None:
        self.server.requests.append(f"{self.command} {self.path}")
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        result: Any = {}
        if self.headers["Authorization"] != "Bearer secret":
            self.send_error(403)
            return
        if self.command == "GET":
            page = int(re.search(r"[?&]page=(\d+)", self.path)[1])  # type: ignore[index]
            result = self.server.comments[100 * (page - 1) : 100 * page]
        elif self.command == "POST":
            self.server.comments.append({"id": 1000 + len(self.server.comments), **body})
        else:
            (comment,) = [
                found
                for found in self.server.comments
                if found["id"] == int(self.path.rpartition("/")[2])
            ]
            comment["body"] = body["body"]
        data = json.dumps(result).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PATCH = answer  # noqa: N815  the names that http.server calls

    def log_message(self, *_: Any) -> None:
        """Leave the standard error alone."""


@pytest.fixture
def github() -> Iterator[GitHub]:
    with GitHub() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class Repository:
    """A repository with judgments, a committed baseline, and the run of a branch."""

    def __init__(self, folder: Path, github: GitHub, questions: int = 60) -> None:
        self.folder, self.github, self.questions = folder, github, questions
        self.names = [f"q{number}" for number in range(questions)]
        lines = [f"{name} 0 d{document} 1" for name in self.names for document in (1, 2)]
        (folder / "qrels.txt").write_text("\n".join(lines), "utf-8")
        self.write(seed=1)
        pq.write_table(
            sqlrank.evaluate(
                METRICS,
                run=folder / "run.trec",
                qrels=folder / "qrels.txt",
                queries=folder / "evals.csv",
                per_query=True,
            ),
            folder / "baseline.parquet",
        )

    def write(self, *, seed: int, worse: float = 0.0) -> None:
        """Write the run and the scores of a branch: those of the baseline with noise, and some
        questions answered worse.
        """
        truth, noise = np.random.default_rng(0), np.random.default_rng(seed)
        run, evals = [], ["query_id,faithfulness,latency_ms"]
        for name in self.names:
            scores = truth.random(12)
            scores[1:3] += 0.8 - 2 * (noise.random() < worse)
            scores += 0.01 * noise.random(12)
            run += [f"{name} Q0 d{document} 0 {score} run" for document, score in enumerate(scores)]
            evals.append(
                f"{name},{truth.random() * 0.2 + 0.7 + 0.01 * noise.random()},{300 + 10 * noise.random()}"
            )
        (self.folder / "run.trec").write_text("\n".join(run), "utf-8")
        (self.folder / "evals.csv").write_text("\n".join(evals), "utf-8")

    def inputs(self, **given: str) -> dict[str, str]:
        """Return the inputs of the action with their defaults."""
        defaults = {name: str(entry.get("default", "")) for name, entry in ACTION["inputs"].items()}
        call = {
            "metrics": "\n".join(METRICS),
            "run": "run.trec",
            "qrels": "qrels.txt",
            "queries": "evals.csv",
            "baseline": "baseline.parquet",
            "tolerance": "0.05\nMean(latency_ms)=30",
            "lower-is-better": "latency_ms",
            "token": "secret",
        }
        return {
            **defaults,
            **call,
            **{name.replace("_", "-"): value for name, value in given.items()},
        }

    def act(self, **given: str) -> Job:
        """Run the steps after the installation."""
        return Job(self, self.inputs(**given))


class Job:
    """A run of the action: the statuses of its steps, and the files that they wrote."""

    def __init__(self, repository: Repository, inputs: dict[str, str]) -> None:
        self.folder = repository.folder
        self.temp = self.folder / "temp"
        self.temp.mkdir(exist_ok=True)
        files = {name: self.temp / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("", "utf-8")
        bin_folder = self.temp / "bin"
        bin_folder.mkdir(exist_ok=True)
        (bin_folder / "sqlrank").write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -m sqlrank "$@"\n', "utf-8"
        )
        (bin_folder / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', "utf-8")
        for command in bin_folder.iterdir():
            command.chmod(0o755)
        self.environment = {
            "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.folder),
            "PYTHONPATH": str(ROOT),
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": repository.github.url,
            "GITHUB_REPOSITORY": "shop/search",
            **{name: str(file) for name, file in files.items()},
        }
        self.expressions = {
            "github.action_path": str(ROOT),
            "github.event.pull_request.number": "7",
            **{f"inputs.{name}": value for name, value in inputs.items()},
        }
        self.printed = ""
        self.statuses = {step["name"]: self.run(step) for step in ACTION["runs"]["steps"][1:]}
        self.summary = files["GITHUB_STEP_SUMMARY"].read_text("utf-8")

    def run(self, step: dict[str, Any]) -> int:
        """Run a step with the shell that GitHub runs it with."""
        environment = {
            name: re.sub(r"\$\{\{ (.+?) \}\}", self.value, str(text))
            for name, text in step["env"].items()
        }
        assert "${{" not in step["run"], "a text of a pull request would be run as a command"
        done = subprocess.run(
            [BASH, "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=self.folder,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        self.printed += done.stdout + done.stderr
        return done.returncode

    def value(self, match: re.Match[str]) -> str:
        """Return the value of an expression."""
        if match[1].startswith("steps.gate.outputs."):
            return self.outputs[match[1].rpartition(".")[2]]
        return self.expressions[match[1]]

    @property
    def outputs(self) -> dict[str, str]:
        """The outputs of the step of the gate."""
        lines = (self.temp / "GITHUB_OUTPUT").read_text("utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines)


@pytest.mark.slow
def test_noise_passes(tmp_path, github):
    repository = Repository(tmp_path, github)
    repository.write(seed=2)
    job = repository.act()
    assert job.statuses == {"Gate": 0, "Comment": 0, "Verdict": 0}, job.printed
    assert job.outputs == {"status": "0", "verdict": "pass"}
    assert job.summary.startswith("## sqlrank gate: pass\n")
    assert [metric in job.summary for metric in METRICS] == [True] * 3
    # Written by the step before
    cases = ET.parse(tmp_path / "sqlrank-gate.xml").getroot()  # noqa: S314
    assert [case.get("name") for case in cases.iter("testcase")] == METRICS
    assert github.comments[0]["body"] == "Nice!"
    assert github.comments[1]["body"].startswith(
        "<!-- sqlrank gate: sqlrank gate -->\n## sqlrank gate: pass\n"
    )


@pytest.mark.slow
def test_a_drop_fails_and_the_comment_is_replaced(tmp_path, github):
    repository = Repository(tmp_path, github)
    github.comments += [{"id": number, "body": "a discussion"} for number in range(2, 150)]
    repository.write(seed=2)
    assert repository.act().statuses["Verdict"] == 0
    repository.write(seed=3, worse=0.5)
    job = repository.act()
    assert job.statuses == {"Gate": 0, "Comment": 0, "Verdict": 1}, job.printed
    assert job.outputs["verdict"] == "fail"
    assert "::error title=sqlrank gate::nDCG@10: worse by more than the tolerance" in job.printed
    ours = [comment["body"] for comment in github.comments if "sqlrank" in comment["body"]]
    assert len(ours) == 1
    assert "## sqlrank gate: fail" in ours[0]
    assert [request.split(" ")[0] for request in github.requests] == [
        "GET", "GET", "POST", "GET", "GET", "PATCH",
    ]  # fmt: skip
    repository.act(title="another gate")
    assert sum("<!-- sqlrank gate: " in comment["body"] for comment in github.comments) == 2


@pytest.mark.slow
def test_the_workflow_of_the_example(tmp_path, github):
    """The step to copy has inputs of the action, and fails a drop from the baseline that its page
    says how to store.
    """
    example = ROOT / "examples" / "gate"
    steps = yaml.safe_load((example / "gate.yml").read_text("utf-8"))["jobs"]["gate"]["steps"]
    (call,) = [step["with"] for step in steps if "/sqlrank@" in step.get("uses", "")]
    (command,) = re.findall(
        r"^ +sqlrank (evaluate .*)$", (example / "README.md").read_text("utf-8"), re.MULTILINE
    )
    repository = Repository(tmp_path, github)
    (tmp_path / "run.trec").rename(tmp_path / "live.run")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(
        [sys.executable, "-m", "sqlrank", *shlex.split(command)],
        cwd=tmp_path,
        env=environment,
        check=True,
    )
    repository.write(seed=3, worse=0.5)
    (tmp_path / "run.trec").rename(tmp_path / "candidate.run")
    inputs = {name: str(entry.get("default", "")) for name, entry in ACTION["inputs"].items()}
    assert call.keys() <= inputs.keys()
    job = Job(repository, {**inputs, **call, "token": "secret"})
    assert job.statuses == {"Gate": 0, "Comment": 0, "Verdict": 1}, job.printed
    assert job.summary.count("✗ fail (tolerance ") == 2


@pytest.mark.parametrize(
    ("treat", "status"),
    [
        ("", 3),
        pytest.param("pass", 3, marks=pytest.mark.slow),
        pytest.param("fail", 1, marks=pytest.mark.slow),
    ],
)
def test_three_questions_are_inconclusive(tmp_path, github, treat, status):
    repository = Repository(tmp_path, github, questions=3)
    repository.write(seed=2)
    job = repository.act(treat_inconclusive_as=treat)
    assert (job.statuses["Verdict"], job.outputs["verdict"]) == (status, "inconclusive"), (
        job.printed
    )
    kind = "error" if treat == "fail" else "warning"
    assert (
        f"::{kind} title=sqlrank gate::all rows are skipped, so nothing was compared" in job.printed
    )
    assert "## sqlrank gate: inconclusive" in job.summary


@pytest.mark.parametrize(
    ("missing", "status", "verdict"), [("notice", 0, "no baseline"), ("error", 2, "error")]
)
def test_a_first_pull_request_without_a_baseline(tmp_path, github, missing, status, verdict):
    repository = Repository(tmp_path, github, questions=3)
    (tmp_path / "baseline.parquet").unlink()
    job = repository.act(missing_baseline=missing)
    assert job.statuses == {"Gate": 0, "Comment": 0, "Verdict": status}, job.printed
    assert job.outputs["verdict"] == verdict
    assert ("::notice title=sqlrank gate::baseline.parquet is not there" in job.printed) == (
        missing == "notice"
    )
    assert "sqlrank evaluate ... --per-query -o baseline.parquet" in job.summary


@pytest.mark.slow
def test_an_error_is_in_the_summary(tmp_path, github):
    job = Repository(tmp_path, github).act(
        metrics="nDCG@10\nMean(nothing)", lower_is_better="", tolerance="0.01"
    )
    assert job.statuses == {"Gate": 0, "Comment": 0, "Verdict": 2}
    assert job.outputs == {"status": "2", "verdict": "error"}
    assert "no column 'nothing'" in job.summary
    assert "no column 'nothing'" in github.comments[-1]["body"]


@pytest.mark.slow
def test_texts_of_inputs_are_no_commands(tmp_path, github):
    job = Repository(tmp_path, github).act(
        metrics='Mean("$(touch owned)`touch owned`")',
        lower_is_better="",
        tolerance="0.01",
        title='--> "$(touch owned)"',
    )
    assert job.outputs["verdict"] == "error"
    assert not (tmp_path / "owned").exists()
    assert github.comments[-1]["body"].startswith('<!-- sqlrank gate: - -> "$(touch owned)" -->\n')


@pytest.mark.slow
def test_a_token_that_may_not_comment_is_a_warning(tmp_path, github):
    repository = Repository(tmp_path, github)
    repository.write(seed=2)
    job = repository.act(token="of a fork")  # noqa: S106  it opens nothing
    assert job.statuses == {"Gate": 0, "Comment": 0, "Verdict": 0}
    assert "::warning title=sqlrank gate::no comment was written: HTTP Error 403" in job.printed


def test_the_installation_takes_the_package_of_the_action_or_the_named_one():
    step = ACTION["runs"]["steps"][0]
    script = f'python3() {{ printf "%s\\n" "$@"; }}\n{step["run"]}'
    for package, expected in (("", "/actions/sqlrank"), ("sqlrank==0.1.0", "sqlrank==0.1.0")):
        environment = {
            "PATH": os.environ["PATH"],
            "PACKAGE": package,
            "ACTION_PATH": "/actions/sqlrank",
        }
        done = subprocess.run(
            [BASH, "-e", "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-1] == expected
        assert done.stdout.splitlines()[:3] == ["-m", "pip", "install"]


def make_runs(worse: bool) -> dict[str, Any]:
    """Return a baseline and a candidate of thirty queries."""
    baseline = {f"q{number}": {"a": 2.0, "b": 1.0} for number in range(30)}
    candidate = {
        query: {"a": 1.0, "b": 2.0} if worse and number % 2 else docs
        for number, (query, docs) in enumerate(baseline.items())
    }
    return {
        "run": {"baseline": baseline, "candidate": candidate},
        "qrels": {query: {"a": 1} for query in baseline},
    }


def test_what_is_not_worse_is_returned():
    table = sqlrank.assert_not_worse(["RR", "AP"], **make_runs(worse=False))
    assert table.equals(sqlrank.gate(["RR", "AP"], **make_runs(worse=False)))


def test_what_is_worse_is_an_assertion_with_the_table():
    with pytest.raises(AssertionError, match=r"## sqlrank gate: fail\n\n\| metric") as caught:
        sqlrank.assert_not_worse("RR", **make_runs(worse=True))
    assert "worse by more than the tolerance" in str(caught.value)


def test_what_is_undecided_is_no_pass():
    few = {**make_runs(worse=False), "min_units": 50}
    for treated in (None, "pass", "fail"):
        with pytest.raises(AssertionError, match="## sqlrank gate: inconclusive"):
            sqlrank.assert_not_worse("RR", **few, treat_inconclusive_as=treated)
    with pytest.raises(
        sqlrank.MetricError,
        match=r"unknown treat_inconclusive_as 'maybe'\. Choose from: pass, fail",
    ):
        sqlrank.assert_not_worse("RR", **few, treat_inconclusive_as="maybe")


def test_it_takes_the_arguments_of_a_gate():
    import inspect

    ours, theirs = (
        inspect.signature(function).parameters
        for function in (sqlrank.assert_not_worse, sqlrank.gate)
    )
    assert ours.keys() - theirs.keys() == {"treat_inconclusive_as"}
    assert {name: str(ours[name]) for name in theirs} == {
        name: str(parameter) for name, parameter in theirs.items()
    }
    assert isinstance(
        sqlrank.assert_not_worse("RR", **make_runs(worse=False), progress=lambda _: None), pa.Table
    )
