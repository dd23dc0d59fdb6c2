"""The engines that statements are executed on: each takes Arrow tables and gives back rows.

None of them is built on DuckDB or sqlglot, so that what they say is evidence.
"""

import ctypes
import json
import math
import os
import re
import sqlite3
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from sqlrank.engines.remote_database import list_words

Rows = list[tuple[Any, ...]]

SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of a Java that runs each piece of code a few times, and so loses more by compiling it
well than it gains.
"""

INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Settings by which Spark evaluates expressions instead of writing and compiling Java of each
statement, which takes twice the time.
"""


class Engine(Protocol):
    """An engine with tables in it."""

    dialects: Sequence[str]
    """The dialects whose text it executes; the first is its own."""
    version: str

    def load(self, name: str, table: pa.Table) -> None:
        """Make a table of this name."""

    def rows(self, statement: str) -> Rows:
        """Execute a query and return all its rows."""

    def execute(self, statement: str) -> object:
        """Execute a statement that has no rows."""

    def close(self) -> None:
        """Stop the processes that the engine started."""


class SQLite:
    """SQLite, of the Python that runs the tests, which may be built without mathematical
    functions.
    """

    dialects = ("sqlite",)
    version = sqlite3.sqlite_version

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:")
        functions = {
            "ln": math.log,
            "exp": math.exp,
            "sqrt": math.sqrt,
            "power": math.pow,
            "floor": lambda x: x // 1,
            "list_words": list_words,
        }
        for name, function in functions.items():
            num_arguments = 2 if name == "power" else 1
            self.connection.create_function(
                name,
                num_arguments,
                lambda *values, f=function: None if None in values else f(*values),
                deterministic=True,
            )

    def load(self, name: str, table: pa.Table) -> None:
        lists = [field.name for field in table.schema if pa.types.is_list(field.type)]
        for name_of_list in lists:  # SQLite has lists as JSON
            texts = [
                None if value is None else json.dumps(value)
                for value in table[name_of_list].to_pylist()
            ]
            table = table.set_column(
                table.column_names.index(name_of_list), name_of_list, pa.array(texts, pa.string())
            )
        types = {"int64": "INTEGER", "double": "REAL", "string": "TEXT"}
        _create_table(
            self.connection.execute,
            "sqlite",
            name,
            {field.name: types[str(field.type)] for field in table.schema},
        )
        marks = ", ".join("?" * table.num_columns)
        self.connection.executemany(
            f"INSERT INTO {_quote_name(name, 'sqlite')} VALUES ({marks})", _to_rows(table)
        )

    def rows(self, statement: str) -> Rows:
        return self.connection.execute(statement).fetchall()

    def execute(self, statement: str) -> object:
        return self.connection.execute(statement)

    def close(self) -> None:
        self.connection.close()


class PostgreSQL:
    """A PostgreSQL server of its own, on a socket, in a folder that goes with it."""

    dialects = ("postgres", "redshift")

    def __init__(self) -> None:
        import psycopg

        with warnings.catch_warnings(action="ignore"):  # where no user is logged in
            import pgserver

            self._folder = tempfile.TemporaryDirectory(prefix="sqlrank_pg_")
            self._server = pgserver.get_server(self._folder.name)
        self.uri = self._server.get_uri()
        self.log = Path(self._folder.name, "log")
        self.connection = psycopg.connect(self.uri, autocommit=True)
        self.version = str(self.rows("SHOW server_version")[0][0])

    def load(self, name: str, table: pa.Table) -> None:
        types = {"int64": "BIGINT", "double": "DOUBLE PRECISION", "string": 'TEXT COLLATE "C"'}
        columns = {
            field.name: (
                f"{types[str(field.type.value_type)].split(' COLLATE')[0]}[]"
                if pa.types.is_list(field.type)
                else types[str(field.type)]
            )
            for field in table.schema
        }
        _create_table(self.connection.execute, "postgres", name, columns)
        with self.connection.cursor().copy(
            f"COPY {_quote_name(name, 'postgres')} FROM STDIN"
        ) as copy:
            for row in _to_rows(table):
                copy.write_row(row)

    def rows(self, statement: str) -> Rows:
        return self.connection.execute(statement).fetchall()

    def execute(self, statement: str) -> object:
        return self.connection.execute(statement)

    def close(self) -> None:
        self.connection.close()
        self._server.cleanup()
        self._folder.cleanup()


class ClickHouse:
    """ClickHouse in this process, through chdb."""

    dialects = ("clickhouse",)

    def __init__(self) -> None:
        from chdb import session

        self._folder = tempfile.TemporaryDirectory(prefix="sqlrank_ch_")
        self.connection = session.Session(self._folder.name)
        self.version = str(self.rows("SELECT version()")[0][0])

    def load(self, name: str, table: pa.Table) -> None:
        path = _write_parquet(self._folder.name, table, name)
        self.connection.query(
            f"CREATE OR REPLACE TABLE {_quote_name(name, 'clickhouse')} ENGINE = Memory AS SELECT *"
            f" FROM file('{path}')"
        )

    def rows(self, statement: str) -> Rows:
        return _to_rows(
            pa.ipc.open_file(self.connection.query(statement, "Arrow").bytes()).read_all()
        )

    def execute(self, statement: str) -> object:
        return self.connection.query(statement)

    def close(self) -> None:
        self.connection.close()
        self._folder.cleanup()


class DataFusion:
    """Apache DataFusion in this process."""

    dialects = ("datafusion",)

    def __init__(self) -> None:
        import datafusion

        self.connection = datafusion.SessionContext()
        self.version = datafusion.__version__

    def load(self, name: str, table: pa.Table) -> None:
        self.connection.from_arrow(table, _quote_name(name, "postgres"))

    def rows(self, statement: str) -> Rows:
        return _to_rows(self.connection.sql(statement).to_arrow_table())

    def execute(self, statement: str) -> object:
        return self.connection.sql(statement).collect()

    def close(self) -> None:
        """Nothing was started."""


class Databend:
    """Databend in this process: the nearest engine to Snowflake that can be executed, and no more
    than that.
    """

    dialects = ("snowflake",)

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="sqlrank_databend_")
        # Without these it writes to .databend in the working directory, and to a new log there
        # every hour.
        with mock.patch.dict(os.environ, DATABEND_DATA_PATH=self._folder.name, LOG_FILE_ON="false"):
            import databend

            self.connection = databend.SessionContext()
        self.version = (
            str(self.rows("SELECT version()")[0][0]).split("-")[0].removeprefix("Databend Query v")
        )

    def load(self, name: str, table: pa.Table) -> None:
        path = _write_parquet(self._folder.name, table, name)
        lists = [field.name for field in table.schema if pa.types.is_list(field.type)]
        source = f"{path.stem}_lists" if lists else path.stem
        self.connection.register_parquet(source, str(path))
        if lists:  # those of Snowflake have variants as elements
            items = (
                f'CAST("{column}" AS VARIANT) AS "{column}"' if column in lists else f'"{column}"'
                for column in table.column_names
            )
            self.rows(
                f"CREATE TABLE {_quote_name(name, 'snowflake')} AS SELECT {', '.join(items)} FROM"
                f" {source}"
            )
        elif name != path.stem:
            self.rows(f"CREATE TABLE {_quote_name(name, 'snowflake')} AS SELECT * FROM {path.stem}")

    def rows(self, statement: str) -> Rows:
        return _to_rows(self.connection.sql(statement).to_arrow_table())

    def execute(self, statement: str) -> object:
        return self.connection.sql(statement).collect()

    def close(self) -> None:
        self._folder.cleanup()


class Spark:
    """Spark in processes of its own, with two threads."""

    dialects = ("spark", "databricks")

    def __init__(self) -> None:
        from pyspark.sql import SparkSession

        self._folder = tempfile.TemporaryDirectory(prefix="sqlrank_spark_")
        options = {
            "spark.sql.shuffle.partitions": "2",
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.extraJavaOptions": SHORT_LIVED,
            **INTERPRETED,
            "spark.sql.warehouse.dir": self._folder.name,
        }
        self.connection = SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
        self.connection.sparkContext.setLogLevel("ERROR")
        self.version = self.connection.version

    def load(self, name: str, table: pa.Table) -> None:
        path = _write_parquet(self._folder.name, table, name)
        self.connection.read.parquet(str(path)).createOrReplaceTempView(_quote_name(name, "spark"))

    def rows(self, statement: str) -> Rows:
        return [tuple(row) for row in self.connection.sql(statement).collect()]

    def execute(self, statement: str) -> object:
        return self.connection.sql(statement)

    def close(self) -> None:
        self.connection.stop()
        self._folder.cleanup()


class ZetaSQL:
    """Google's own front end of BigQuery and its reference implementation, compiled to
    WebAssembly.
    """

    dialects = ("bigquery",)

    def __init__(self) -> None:
        from importlib.metadata import version

        _speed_up_wasm()
        from zetasql.core import ZetaSqlLocalService
        from zetasql.types import AnalyzerOptions, LanguageOptions, ZetaSQLBuiltinFunctionOptions
        from zetasql.types.proto_model import ProductMode

        language = LanguageOptions.maximum_features()
        language.product_mode = (
            ProductMode.PRODUCT_EXTERNAL
        )  # the types that BigQuery has: FLOAT64, not DOUBLE
        language.reserved_keywords = ["QUALIFY"]
        self._options = AnalyzerOptions(language_options=language)
        self._functions = ZetaSQLBuiltinFunctionOptions(language_options=language)
        self._service = ZetaSqlLocalService.get_instance()
        self._tables: dict[str, pa.Table] = {}
        self.version = version("zetasql")

    def load(self, name: str, table: pa.Table) -> None:
        self._tables[name] = table

    def rows(self, statement: str) -> Rows:
        from zetasql.api import CatalogBuilder, PreparedQuery, TableBuilder, create_table_content
        from zetasql.api.type_factory import TypeFactory
        from zetasql.types import TypeKind

        kinds = {
            "int64": TypeKind.TYPE_INT64,
            "double": TypeKind.TYPE_DOUBLE,
            "string": TypeKind.TYPE_STRING,
        }
        catalog = CatalogBuilder("test").with_builtin_functions(self._functions)
        for name, table in self._tables.items():
            builder = TableBuilder(name)
            for field in table.schema:
                is_list = pa.types.is_list(field.type)
                kind = kinds[str(field.type.value_type if is_list else field.type)]
                builder.add_column(
                    field.name,
                    (
                        TypeFactory.create_array_type(TypeFactory.create_simple_type(kind))
                        if is_list
                        else kind
                    ),
                )
            catalog.add_table(builder.build())
        content = {}
        for name, table in self._tables.items():
            rows = _to_rows(table)
            content[name] = create_table_content(
                [[None if isinstance(value, list) else value for value in row] for row in rows]
            )
            for row, values in zip(content[name].table_data.row, rows, strict=True):
                for cell, value in zip(row.cell, values, strict=True):
                    if isinstance(value, list):
                        (elements,) = create_table_content([value]).table_data.row
                        cell.array_value = type(cell).Array(element=elements.cell)
        query = (
            PreparedQuery.builder()
            .set_sql(statement)
            .set_analyzer_options(self._options)
            .set_catalog(catalog.build())
        )
        with query.set_table_content(content).prepare() as prepared:
            data = prepared.execute().content.table_data
        return [
            tuple(_convert_cell(cell) for cell in row.cell)
            for row in (data.row if data is not None else None) or []
        ]

    def execute(self, statement: str) -> object:
        raise NotImplementedError("the reference implementation keeps no tables")

    def analyze(self, statement: str) -> str:
        """Analyze a statement without tables, such as a declaration, and return the class of its
        resolved tree.
        """
        from zetasql.api import Analyzer, CatalogBuilder

        catalog = CatalogBuilder("test").with_builtin_functions(self._functions).build()
        return type(Analyzer(self._options, catalog).analyze_statement(statement)).__name__

    def close(self) -> None:
        """Nothing was started."""


ENGINES: tuple[Callable[[], Engine], ...] = (
    SQLite, PostgreSQL, ClickHouse, DataFusion, ZetaSQL, Databend, Spark,
)  # fmt: skip
"""All engines, each of which must be there for the tests to pass."""


def _speed_up_wasm() -> None:
    """Copy memory at once instead of byte by byte, and keep the compiled module: 20 seconds become
    a few.
    """
    from zetasql.core.wasm_client import WasmClient

    def write(self: Any, pointer: int, data: bytes) -> None:
        ctypes.memmove(ctypes.addressof(self.memory.data_ptr().contents) + pointer, data, len(data))

    def read(self: Any, pointer: int, size: int) -> bytes:
        return ctypes.string_at(ctypes.addressof(self.memory.data_ptr().contents) + pointer, size)

    WasmClient.write_bytes, WasmClient.read_bytes = write, read


def _convert_cell(cell: Any) -> Any:
    for kind in ("double_value", "int64_value", "string_value", "bool_value"):
        value = getattr(cell, kind, None)
        if value is not None:
            return value
    return None


def _to_rows(table: pa.Table) -> Rows:
    return (
        list(zip(*(column.to_pylist() for column in table.columns), strict=True))
        if table.num_columns
        else []
    )


def _write_parquet(folder: str, table: pa.Table, name: str) -> Path:
    """Write a table to a file that is called as it is, but for odd characters; Spark takes one that
    begins with _ for hidden.
    """
    path = Path(folder) / f"{re.sub('[^A-Za-z]', '_', name)}.parquet"
    pq.write_table(table, path)
    return path


def _quote_name(name: str, dialect: str) -> str:
    return exp.to_identifier(name, quoted=True).sql(dialect)


def _create_table(
    execute: Callable[[str], object], dialect: str, name: str, columns: dict[str, str]
) -> None:
    execute(f"DROP TABLE IF EXISTS {_quote_name(name, dialect)}")
    execute(
        f"CREATE TABLE {_quote_name(name, dialect)}"
        f" ({', '.join(f'{_quote_name(column, dialect)} {kind}' for column, kind in columns.items())})"
    )
