"""Parse the values of command-line options, such as ``name=value``, into those of arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from sqlrank.call.request import split_column_list
from sqlrank.call.sources import SYSTEM_ROLES, QuerySource, SourceGroup, is_query_text
from sqlrank.engines.file_sources import names_files
from sqlrank.errors import MetricError, SqlrankError, did_you_mean, join_sentences, to_sentence
from sqlrank.options import load_options
from sqlrank.registry.loader import registry_for
from sqlrank.registry.metric import ParameterValue, freeze_value, parse_metric_text

if TYPE_CHECKING:
    from sqlrank.registry.registry import Registry

_LISTED_COLUMNS = ("score", "scores")
"""Names that several columns may be mapped to."""


def parse_pairs(option: str, texts: list[str] | None) -> dict[str, str]:
    """Parse ``name=value`` options; raise ``SqlrankError`` for malformed ones and duplicate
    names.
    """
    pairs = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise SqlrankError(f"{option} {text}: write {option} name=value")
        if name in pairs:
            raise SqlrankError(f"{option} {text}: {name} is given twice")
        pairs[name] = value
    return pairs


def parse_runs(runs: list[str] | None, option: str = "--run ") -> Any:
    """Return a single unnamed run unchanged, and named or several runs as systems.

    A run is named by ``name=source``, unless a file has that name, or it is a query. ``option`` is
    the text before a run on the command line.
    """
    members = []
    for run in runs or []:
        name, equals, source = run.partition("=")
        is_named = bool(equals) and not (names_files(run) or is_query_text(run)) and "/" not in name
        if is_named and not (name and source):
            raise SqlrankError(f"{option}{run}: write {option}name=source")
        members.append(
            (name, read_query_file(source)) if is_named else (None, read_query_file(run))
        )
    if not members or (len(members) == 1 and members[0][0] is None):
        return members[0][1] if members else None
    return SourceGroup(tuple(members), members_are_systems=True)


def read_query_file(text: str) -> Any:
    """Return the query in a file for ``@file.sql``, other sources unchanged."""
    if not text.startswith("@") or names_files(text):
        return text
    try:
        return QuerySource.from_file(text[1:])
    except (OSError, UnicodeDecodeError) as error:
        raise SqlrankError(
            f"{text}: the file of the query cannot be read:"
            f" {getattr(error, 'strerror', None) or error}. Check its path"
        ) from None


def parse_source(text: str) -> Any:
    """Parse the source of an option: a table, a file, a query, or ``@file.sql`` with a query in
    it.
    """
    try:
        return read_query_file(text)
    except SqlrankError as error:
        raise typer.BadParameter(str(error)) from None


def parse_inputs(inputs: list[str] | None) -> dict[str, Any]:
    """Return the sources of further inputs by role; of a role with systems there may be several, as
    for ``--run``.
    """
    by_role: dict[str, list[str]] = {}
    for text in inputs or []:
        role, _, source = text.partition("=")
        if role in SYSTEM_ROLES and source:
            by_role.setdefault(role, []).append(source)
    rest = [text for text in inputs or [] if text.partition("=")[0] not in by_role]
    inputs_by_role = {
        name: read_query_file(source) for name, source in parse_pairs("--input", rest).items()
    }
    return inputs_by_role | {
        role: parse_runs(sources, f"--input {role}=") for role, sources in by_role.items()
    }


def parse_columns(mappings: list[str] | None) -> dict[str, str | list[str]]:
    """Parse column mappings; several scores are several models, and several columns of scores those
    of classes.
    """
    names = [
        name
        for mapping in mappings or []
        for name in [mapping.partition("=")[0]]
        if name.rpartition(".")[-1] in _LISTED_COLUMNS
    ]
    several = {name for name in names if names.count(name) > 1}
    listed = [mapping for mapping in mappings or [] if mapping.partition("=")[0] in several]
    columns: dict[str, str | list[str]] = dict(
        parse_pairs("--column", [mapping for mapping in mappings or [] if mapping not in listed])
    )
    return columns | {
        name: [mapping.partition("=")[2] for mapping in listed if mapping.startswith(f"{name}=")]
        for name in sorted(several)
    }


def parse_policies(policies: list[str] | None, sql_dir: Any = None) -> dict[str, Any]:
    """Parse policies like metric parameters: ``depth=100`` is a number, ``ties=rank`` a name."""
    if not policies:
        return {}
    # Help does not need the library
    from sqlrank.registry.settings_checks import QUERIES_POLICY_KEYWORD, check_policy_values

    reserved_names = {
        name for name, option in load_options().items() if "evaluate" in option.functions
    } - {"policies", "queries"}
    clash = [name for name in parse_pairs("--policy", policies) if name in reserved_names]
    if clash:
        raise SqlrankError(
            f"--policy: unknown policy {clash[0]!r}. It is an option of its own, see --help"
        )
    library = registry_for(sql_dir)
    _refuse_unknown(policies, library)
    read_as = {name: value for policy in policies for name, value in _parse_policy(policy)}
    if "queries" in read_as:
        check_policy_values(
            {"queries": read_as["queries"]}, library
        )  # under the name of the command line
        read_as[QUERIES_POLICY_KEYWORD] = read_as.pop("queries")
    return {
        name: (
            dict(value)
            if isinstance(value, tuple) and isinstance(value[0], tuple)
            else freeze_value(value)
        )
        for name, value in read_as.items()
    }


def _refuse_unknown(policies: list[str], library: Registry) -> None:
    """Raise ``MetricError`` for an unknown policy, with a suggestion."""
    from sqlrank.call.suggestions import flag_for

    # Help does not need the library
    from sqlrank.registry.settings_checks import policy_names, unknown_keywords, unknown_policies

    for policy in policies:
        for name in unknown_keywords([policy.partition("=")[0].strip()], library):
            (problem,) = unknown_policies([name], library)
            flags = {
                name: option.flag
                for name, option in load_options().items()
                if "evaluate" in option.functions
            }
            advice = (
                flag_for(name, flags, library)
                or did_you_mean(name, policy_names(library))
                or did_you_mean(name, flags.values())
            )
            raise MetricError(
                f"--policy {policy}: "
                + (
                    join_sentences(f"unknown policy {name!r}", to_sentence(advice))
                    if advice
                    else problem
                )
            )


def _parse_policy(policy: str) -> tuple[tuple[str, ParameterValue], ...]:
    try:
        return parse_metric_text(f"m({policy})").params
    except MetricError:
        raise SqlrankError(
            f"--policy {policy}: cannot read this. Write it like ties=rank, depth=100 or gain={{1:"
            " 3, 2: 9}"
        ) from None


def parse_groupings(by: list[str] | None) -> Any:
    """Parse group columns, or several groupings: ``a,b``, and ``total`` for no columns."""
    if not by:
        return ()
    groups = _split_groupings(by, ", --by a,b or --by total")
    if all(len(names) == 1 and names != ["total"] for names in groups):
        return by
    return [[] if names == ["total"] else names for names in groups]


def parse_group_columns(by: list[str] | None) -> list[str]:
    """Parse the columns of one grouping, ``a,b`` or an option for each."""
    return [name for names in _split_groupings(by or [], " or --by a,b") for name in names]


def _split_groupings(by: list[str], other_forms: str) -> list[list[str]]:
    groups = [split_column_list(text) for text in by]
    for text, names in zip(by, groups, strict=True):
        if not all(names):
            raise SqlrankError(f"--by {text!r}: a column has no name. Write --by a{other_forms}")
    return groups


def parse_tolerance_options(option: str, texts: list[str] | None) -> dict[str, str]:
    """Parse ``0.01`` and ``AP=2%``; raise ``SqlrankError`` for duplicates."""
    tolerances: dict[str, str] = {}
    for text in texts or ():
        name, _, value = text.rpartition("=")
        if (name or "*") in tolerances:
            raise SqlrankError(f"{option} {text}: given twice for {name or 'all metrics'}")
        tolerances[name or "*"] = value
    return tolerances


def parse_shares_option(option: str, texts: list[str] | None) -> dict[str, float] | None:
    """Parse parts with their shares; raise ``SqlrankError`` for values that are not numbers."""
    try:
        return {name: float(value) for name, value in parse_pairs(option, texts).items()} or None
    except ValueError:
        raise SqlrankError(
            f"{option}: give a name and its share, such as {option} train=0.8 {option} test=0.2"
        ) from None
