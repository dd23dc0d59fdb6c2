"""Names of tables for the inputs of a metric or curve, for statements that are printed only."""

from typing import Any

from sqlrank.registry.loader import load_registry
from sqlrank.registry.resolved_metric import find_dependencies, find_input_role
from sqlrank.registry.sql_file import SqlFile

SOURCES_BY_ROLE: dict[str, dict[str, Any]] = {
    "predictions": {"predictions": "p"},
    "run": {"run": "r", "qrels": "q"},
}


def name_sources(file: SqlFile) -> dict[str, Any]:
    """Return the arguments of a call that name a table for each role which a file reads."""
    dependencies = find_dependencies(load_registry(), file, {})
    others = dependencies.roles - {"run", "qrels", "queries", "predictions"}
    role = find_input_role(load_registry(), file)
    # of queries the measured column, or their texts
    needs_queries = file.measures_column or "query_ngrams" in dependencies.relations
    measured = {"queries": "of_queries"} if needs_queries and role == "run" else {}
    return {
        **SOURCES_BY_ROLE.get(role, {}),
        **measured,
        "inputs": {role: f"the_{role}" for role in others},
    }


ARGUMENTS = {"Elbow": "@3", "IPrec": "@0.5", "Gain": "@0.1", "Lift": "@0.1"}


def write_metric(file: SqlFile) -> str:
    """Return a metric as it can be asked for, with a cut-off or a column if it needs one."""
    if file.measures_column:
        return f"{file.display_name}(amount)"
    name = file.full_name.removesuffix("@k")
    return f"{name}{ARGUMENTS.get(name, '@1' if file.cutoff_parameter is not None or name != file.full_name else '')}"
