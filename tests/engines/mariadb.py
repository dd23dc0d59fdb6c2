"""A MariaDB server, which reads the SQL of MySQL 8, driven through its own client: it needs no
Python driver.
"""

import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from sqlglot import exp

from tests.engines.engines import Rows

NEEDED = ("mariadbd", "mariadb-install-db", "mariadb")
"""Programs of Debian's package mariadb-server, which only an operating system installs."""

TYPES = {"int64": "BIGINT", "double": "DOUBLE", "string": "VARCHAR(200) COLLATE utf8mb4_bin"}


def find_missing_programs() -> list[str]:
    return [name for name in NEEDED if shutil.which(name) is None]


MARKS = [
    pytest.mark.slow,
    pytest.mark.xdist_group("MariaDB"),
    pytest.mark.skipif(
        bool(find_missing_programs()),
        reason="apt-get install mariadb-server: only an operating system has the server",
    ),
]
"""Marks of what runs on the server."""


class MariaDB:
    """A server of its own, on a socket, in a folder that goes with it."""

    dialects = ("mysql",)

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="sqlrank_mariadb_")
        data, socket = (str(Path(self._folder.name) / name) for name in ("data", "socket"))
        install = [
            "mariadb-install-db",
            "--no-defaults",
            f"--datadir={data}",
            "--auth-root-authentication-method=normal",
        ]
        subprocess.run([*install, "--skip-test-db", "--user=root"], check=True, capture_output=True)
        serve = [
            "mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={socket}",
            "--skip-networking", "--user=root",
        ]  # fmt: skip
        self._server = subprocess.Popen(
            [*serve, "--sql-mode=STRICT_ALL_TABLES,ONLY_FULL_GROUP_BY"], stderr=subprocess.DEVNULL
        )
        self._client = [
            "mariadb", "--no-defaults", f"--socket={socket}", "--user=root",
            "--default-character-set=utf8mb4", "--batch",
        ]  # fmt: skip
        self._wait_until_it_answers()
        self.execute("CREATE DATABASE shop CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
        self._client += ["--database=shop"]
        self.version = str(self.rows("SELECT VERSION()")[0][0]).partition("-")[0]

    def _wait_until_it_answers(self) -> None:
        for _ in range(300):
            if (
                subprocess.run(
                    [*self._client, "--execute=SELECT 1"], check=False, capture_output=True
                ).returncode
                == 0
            ):
                return
            time.sleep(0.2)
        raise TimeoutError("the server of MariaDB does not answer")

    def load(self, name: str, table: pa.Table) -> None:
        quoted = _quote_name(name)
        columns = ", ".join(
            f"{_quote_name(field.name)} {TYPES[str(field.type)]}" for field in table.schema
        )
        rows = ", ".join(
            f"({', '.join(map(_write_value, row.values()))})" for row in table.to_pylist()
        )
        self.execute(
            f"DROP TABLE IF EXISTS {quoted}; CREATE TABLE {quoted} ({columns}); INSERT INTO"
            f" {quoted} VALUES {rows}"
        )

    def rows(self, statement: str) -> Rows:
        lines = self.execute(statement).splitlines()[1:]
        return [
            tuple(None if cell == "NULL" else cell for cell in line.split("\t")) for line in lines
        ]

    def execute(self, statement: str) -> str:
        done = subprocess.run(
            self._client, input=statement, check=False, capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return done.stdout

    def close(self) -> None:
        self._server.terminate()
        self._server.wait()
        self._folder.cleanup()


def _quote_name(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql("mysql")


def _write_value(value: Any) -> str:
    return (
        "NULL"
        if value is None
        else (
            repr(value)
            if isinstance(value, (int, float))
            else exp.Literal.string(value).sql("mysql")
        )
    )
