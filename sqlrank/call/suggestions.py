"""Bind the arguments of calls, and for invalid ones, also of functions of other tools, suggest the
call or option to write.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from itertools import islice
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlrank.call.sources import data_suffix
from sqlrank.errors import (
    ArgumentError,
    MetricError,
    did_you_mean,
    find_closest,
    join_sentences,
    join_words,
    short_repr,
    to_sentence,
)
from sqlrank.options import load_options
from sqlrank.registry import metric_resolver
from sqlrank.registry.loader import registry_for
from sqlrank.registry.metric import Metric, normalize_name
from sqlrank.registry.registry import REQUEST_OPTIONS, Registry
from sqlrank.registry.resolved_metric import find_input_role
from sqlrank.registry.roles import INPUTS_BY_KEYWORD
from sqlrank.registry.settings_checks import policy_names, unknown_keywords
from sqlrank.rendering.dialects import DIALECT_NAMES

if TYPE_CHECKING:
    from inspect import Signature


MAX_LITERAL_CHARACTERS = 60
MAX_METRICS_CHARACTERS = 200
MAX_SAMPLED_NUMBERS = 100
MIN_POLICY_SIMILARITY = 0.8
"""Similarity from which an unknown keyword is taken for a misspelt policy; below, the keywords of
the function come first.
"""

ARRAYS = {"label": "y_true", "score": "y_score", "weight": "sample_weight"}
"""Conventional names of positional arrays, by column of predictions."""

_RULE = re.compile(r"(?P<change>@|column |not |1 - |)(?P<target>\w*)")
"""Pattern of a rule for a keyword in ``[arguments]`` of names.toml; other entries are sentences."""


def bind_arguments(
    function: str, signature: Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """Bind the arguments of a call to their names, including policies.

    Raises:
        ArgumentError: The function has no such argument, or one is missing.
    """
    try:
        arguments = dict(signature.bind(*args, **kwargs).arguments)
    except TypeError:
        raise build_argument_error(function, signature, args, kwargs) from None
    if policies := arguments.pop("policies", None):
        if unknown_keywords(policies, _load_library(arguments.get("sql_dir"))):
            raise build_argument_error(function, signature, args, kwargs)
        arguments |= policies
    return arguments


def build_argument_error(
    function: str, signature: Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> ArgumentError:
    """Return the error of a call with invalid arguments, with the call to make instead."""
    correction = _Correction(function, signature, _load_library(kwargs.get("sql_dir")))
    correction.translate_arguments(args, kwargs)
    return ArgumentError(correction.format_message(args, kwargs))


def call_for(name: str) -> str | None:
    """Return the equivalent call of another tool's function, such as ``roc_auc_score``, if any."""
    library = _load_library(None)
    if (call := library.synonyms["functions"].get(normalize_name(name))) is not None:
        return str(call)
    input_role = _find_base(name, library)
    sources = {
        "predictions": "predictions={'label': y_true, 'score': y_score}",
        "run": "run=run, qrels=qrels",
    }
    return (
        None
        if input_role is None
        else (
            f"evaluate({str(metric_resolver.parse_canonical(name, library))!r},"
            f" {sources.get(input_role, f'inputs={{{input_role!r}: table}}')})"
        )
    )


def flag_for(name: str, flags: Mapping[str, str], library: Registry) -> str | None:
    """Return the command line equivalent of an unknown keyword that other tools or Python have,
    None if there is none.

    ``flags`` are those of the command by argument.
    """
    rules: list[str] = [
        *library.synonyms["options"].get(normalize_name(name), ()),
        *_find_rules(name, library),
    ]
    for rule in rules:
        match = _RULE.fullmatch(rule)
        if match is None:
            return rule
        change, target = match["change"], match["target"]
        if change == "@":
            return "write the cut-off after the metric, as in nDCG@10"
        if change == "column ":
            return f"write --column {target}=NAME for the name of your column"
        if target in flags:
            return f"write {flags[target]}{' 0.95 for 0.05' if change == '1 - ' else ''}"
        if target in policy_names(library):
            return f"write --policy {target}=..."
    if name in library.roles and name not in flags and "input" in flags:
        return f"write --input {name}=..."
    return (
        f"write --policy {name}=..."
        if name in policy_names(library) and "policy" in flags
        else None
    )


def suggest_option(option: str, flags: Mapping[str, str], library: Registry) -> str | None:
    """Return advice on an unknown option: its equivalent, the closest option, or a policy that is
    spelt much like it.
    """
    name = option.lstrip("-").replace("-", "_")
    if (advice := flag_for(name, flags, library)) is not None:
        return advice
    policies = policy_names(library) if "policy" in flags else ()
    similar = get_close_matches(name, [*flags, *policies], n=1, cutoff=MIN_POLICY_SIMILARITY)
    if similar and similar[0] not in flags:
        return f"write --policy {similar[0]}=..."
    closest = find_closest(name, flags)
    return None if closest is None else f"did you mean {flags[closest]}?"


def _find_rules(name: str, library: Registry) -> list[str]:
    """Return the options that have another name, and the rules of names.toml for it."""
    key = normalize_name(name)
    rules = library.synonyms["arguments"].get(key, [])
    return [option.name for option in load_options().values() if key in option.other_names] + (
        [rules] if isinstance(rules, str) else rules
    )


def _load_library(sql_dir: Any) -> Registry:
    """Return the registry of a call.

    Values that are not paths are reported elsewhere, and use the package's registry.
    """
    is_path = isinstance(sql_dir, (str, Path)) and "\0" not in str(sql_dir)
    return registry_for(sql_dir if is_path else None)


class _Correction:
    """The correction of an invalid call, built argument by argument.

    ``arguments`` and ``columns`` (of predictions) map names to Python text; ``advice`` lists other
    hints.
    """

    def __init__(self, function: str, signature: Signature, library: Registry) -> None:
        self.function = function
        self.library = library
        self.parameters = {
            name: param
            for name, param in signature.parameters.items()
            if param.kind is not param.VAR_KEYWORD
        }
        self.has_policies = len(self.parameters) < len(signature.parameters)
        self.by_position = [
            name
            for name, param in self.parameters.items()
            if param.kind is param.POSITIONAL_OR_KEYWORD
        ]
        self.metrics_name = next(
            (name for name in ("metrics", "metric") if name in self.by_position[:1]), ""
        )
        self.metrics: Any = None
        self.cutoff: Any = None
        self.arguments: dict[str, str] = {}
        self.columns: dict[str, str] = {}
        self.unknown: list[str] = []
        self.advice: list[str] = []
        self.is_corrected = False

    def translate_arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Translate the arguments of a call."""
        for name, value in kwargs.items():
            self._translate_argument(name, value)
        count = len(self.by_position)
        if self.metrics_name and count == 1:
            self._translate_sources(list(args))
        else:
            for name, value in zip(self.by_position, args, strict=False):
                self._set_argument(name, name, value)
            self._assign_sources(list(args[count:]), is_run_first=True)
        names = {name: text for name, text in self.columns.items() if text[0] in "'\""}
        if names:
            self.arguments["columns"] = _format_dict(names)
        if arrays := {name: text for name, text in self.columns.items() if name not in names}:
            self.arguments["predictions"] = _format_dict(self._with_ids(arrays))
        if self.metrics_name and (
            self.metrics is not None
            or not self.library.synonyms["examples"].keys().isdisjoint(self.parameters)
        ):
            self.arguments[self.metrics_name] = self._metrics_text()

    def format_message(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        """Return the error message: the problem, advice, and the call to make."""
        problems = (
            [
                (
                    f"{self.function} has no argument"
                    f" {join_words([repr(name) for name in self.unknown], 'or')}"
                )
            ]
            if self.unknown
            else []
        )
        if len(args) > len(self.by_position):
            problems.append(
                f"{self.function} takes only {join_words(self.by_position)} by position"
            )
        elif repeated := [name for name in self.by_position[: len(args)] if name in kwargs]:
            problems.append(f"{self.function} takes {repeated[0]} once, by position or by name")
        required = [name for name, param in self.parameters.items() if param.default is param.empty]
        present = {*self.by_position[: len(args)], *kwargs}
        if not problems:
            problems.append(
                f"{self.function} needs"
                f" {join_words([name for name in required if name not in present])}"
            )
        advice = list(dict.fromkeys(self.advice))
        if self.is_corrected or not self.unknown:
            for name in required:
                self.arguments.setdefault(name, name if name in self.by_position else "...")
            by_position = [
                self.arguments.pop(name) for name in self.by_position if name in self.arguments
            ]
            by_name = [f"{name}={text}" for name, text in self.arguments.items()]
            advice.append(f"write {self.function}({', '.join([*by_position, *by_name])})")
        elif not advice:
            advice.append(self._list_parameters())
        return join_sentences(*problems, *map(to_sentence, advice))

    def _translate_argument(self, name: str, value: Any) -> None:
        """Translate a keyword argument: unchanged, by names.toml, or to the nearest name."""
        if name in self.parameters or (
            self.has_policies and not unknown_keywords([name], self.library)
        ):
            self._set_argument(name, name, value)
            return
        self.unknown.append(name)
        if (advice := self._advise_on_source(name)) is not None:
            self.advice.append(advice)
            return
        if isinstance(value, str) and value in DIALECT_NAMES and "dialect" in self.parameters:
            self._set_argument("dialect", name, value)
            self.is_corrected = True
            return
        for rule in _find_rules(name, self.library):
            match = _RULE.fullmatch(rule)
            if match is None:
                self.advice.append(rule)
                self.is_corrected |= bool(self.metrics_name)
                return
            if self._apply_rule(match["change"], match["target"], name, value):
                self.is_corrected = True
                return
        may_be_misplaced = (
            self.has_policies
            and name not in REQUEST_OPTIONS
            and (name in self.library.plans or name not in self.library.functions)
        )
        placement_hint = self.library.misplaced_name_hint(name) if may_be_misplaced else ""
        policies = policy_names(self.library) if self.has_policies else ()
        is_misspelt_policy = bool(
            get_close_matches(name, policies, n=1, cutoff=MIN_POLICY_SIMILARITY)
        )
        nearest = did_you_mean(
            name, [*self.parameters, *policies] if is_misspelt_policy else self.parameters
        )
        if not (nearest or placement_hint):
            nearest = did_you_mean(name, policies)
            if not is_misspelt_policy:
                self.advice.append(self._list_parameters())
        if sentence := placement_hint or nearest:
            self.advice.append(sentence)

    def _list_parameters(self) -> str:
        policies = ", and policies" if self.has_policies else ""
        return f"it takes {', '.join(self.parameters)}{policies}"

    def _advise_on_source(self, name: str) -> str | None:
        """Return advice on an input that the function takes under another argument, or not at all;
        None for other names.
        """
        if self.function == "chart" and name in INPUTS_BY_KEYWORD:
            return "a chart is of a result: chart(evaluate('ROC', predictions=...))"
        is_role = (
            name in self.library.roles
            and name not in INPUTS_BY_KEYWORD
            and self._find_base_roles() - {"predictions", "run"}
        )
        return self.library.misplaced_name_hint(name) if is_role else None

    def _apply_rule(self, change: str, target: str, name: str, value: Any) -> bool:
        """Translate an argument by a rule; return False if the function lacks its target."""
        if change == "@":
            self.cutoff = value
            return bool(self.metrics_name)
        if change == "column " and (
            hasattr(value, "columns") or (isinstance(value, str) and data_suffix(value))
        ):
            self.arguments["predictions"] = _to_python(name, value)
            return "predictions" in self.parameters
        if change == "column ":
            self.columns[target] = repr(value) if isinstance(value, str) else name
            return "predictions" in self.parameters
        if target not in self.parameters and not (
            self.has_policies and target in policy_names(self.library)
        ):
            return False
        if change == "not ":
            self.arguments |= {} if value else {target: "True"}
        elif change == "1 - ":
            self.arguments[target] = (
                repr(round(1 - float(value), 12)) if isinstance(value, Real) else f"1 - {name}"
            )
        else:
            self._set_argument(target, name, value)
        return True

    def _set_argument(self, target: str, name: str, value: Any) -> None:
        if target == self.metrics_name:
            self.metrics = value
        else:
            self.arguments[target] = _to_python(name, value)

    def _translate_sources(self, values: list[Any]) -> None:
        """Translate metrics and sources by position, in any order."""
        positions = [index for index, value in enumerate(values) if _are_metrics(value)]
        positions += [
            index for index, value in enumerate(values) if _find_base(value, self.library)
        ]
        positions += [0] * bool(values and isinstance(values[0], str))
        if positions:
            metrics = values.pop(positions[0])
            self.metrics = metrics if self.metrics is None else self.metrics
        self._assign_sources(
            values,
            is_run_first=positions[:1] == [0]
            and not all(isinstance(value, Mapping) for value in values),
        )

    def _assign_sources(self, values: list[Any], *, is_run_first: bool) -> None:
        """Assign positional sources to likely roles.

        Two are judgments and run, as in ranx and pytrec_eval.
        """
        if values and "predictions" not in self.parameters:
            self.arguments |= {
                name: _to_python(name, values[0]) for name in ("data",) if name in self.parameters
            }
        elif values and all(map(_is_array, values)):
            if len(values) > 1 and _are_integers(values[1]) and not _are_integers(values[0]):
                values[:2] = values[1::-1]
            self.columns |= dict(islice(ARRAYS.items(), len(values)))
        elif (
            len(values) == 1
            and not isinstance(values[0], Mapping)
            and self._find_base_roles() != {"run"}
        ):
            self.arguments["predictions"] = _to_python("predictions", values[0])
        else:
            roles = ["run", "qrels"] if is_run_first or len(values) == 1 else ["qrels", "run"]
            unassigned = [role for role in roles if role not in self.arguments]
            self.arguments |= {
                role: _to_python(role, value)
                for role, value in zip(unassigned, values, strict=False)
            }

    def _find_base_roles(self) -> set[str]:
        """Return the input roles that the metrics evaluate."""
        return {
            input_role
            for metric in _split_metrics(self.metrics)
            if (input_role := _find_base(metric, self.library)) is not None
        }

    def _with_ids(self, arrays: dict[str, str]) -> dict[str, str]:
        """Add document keys to columns of predictions, if a metric evaluates rankings."""
        if "run" not in self._find_base_roles():
            return arrays
        doc_id = f"range(len({next(iter(arrays.values()))}))" if "query_id" in arrays else "doc_id"
        return {"query_id": "query_id", "doc_id": doc_id, **arrays}

    def _metrics_text(self) -> str:
        """Return the metrics of the call as text, at the cut-offs of a separate argument."""
        metrics = _split_metrics(self.metrics)
        if not metrics:
            examples = self.library.synonyms["examples"]
            metrics = [
                next(
                    text
                    for name, text in examples.items()
                    if name in self.arguments or (name in self.parameters and name != "run")
                )
            ]
        cutoffs = (
            self.cutoff
            if isinstance(self.cutoff, (list, tuple))
            else []
            if self.cutoff is None
            else [self.cutoff]
        )
        if cutoffs and all(isinstance(cutoff, Real) for cutoff in cutoffs):
            suffix = f"@[{','.join(map(str, cutoffs))}]" if len(cutoffs) > 1 else f"@{cutoffs[0]}"
            metrics = [
                f"{metric}{suffix}" if _takes_cutoff(metric, self.library) else metric
                for metric in metrics
            ]
        text = repr(metrics[0] if len(metrics) == 1 else metrics)
        return text if len(text) <= MAX_METRICS_CHARACTERS else self.metrics_name


def _split_metrics(metrics: Any) -> list[str]:
    """Return metrics as texts, empty if the value contains no metrics."""
    if isinstance(metrics, (str, Metric)):
        return [str(metrics)]
    return [str(metric) for metric in metrics] if _are_metrics(metrics) else []


def _are_metrics(value: Any) -> bool:
    return (
        isinstance(value, (list, tuple, set, frozenset))
        and bool(value)
        and all(isinstance(element, (str, Metric)) for element in value)
    )


def _find_base(metric: Any, library: Registry) -> str | None:
    """Return the input role that a metric evaluates, None if it is not a metric."""
    try:
        return (
            find_input_role(
                library, library.file_for(metric_resolver.parse_canonical(str(metric), library))
            )
            if isinstance(metric, (str, Metric))
            else None
        )
    except MetricError:
        return None


def _takes_cutoff(metric: str, library: Registry) -> bool:
    """Return True for a metric that a cut-off can be written after without making it another, which
    ``AUC@10`` would be.
    """
    if "@" in metric:
        return False
    try:
        return (
            library.file_for(metric_resolver.parse_canonical(metric, library)).cutoff_parameter
            is not None
        )
    except MetricError:
        return True


def _is_array(value: Any) -> bool:
    return (
        not isinstance(value, (str, Path, Mapping))
        and not hasattr(value, "columns")
        and (hasattr(value, "__len__") or hasattr(value, "__array__"))
    )


def _are_integers(values: Any) -> bool:
    """Return True if the first numbers of an array are whole, as labels are."""
    try:
        return all(float(value).is_integer() for value in islice(values, MAX_SAMPLED_NUMBERS))
    except (TypeError, ValueError):
        return True


def _to_python(name: str, value: Any) -> str:
    """Return an argument as Python text: short values literally, others as a variable name."""
    if isinstance(value, (str, Path, Real, list, tuple, dict, type(None))):
        text = short_repr(str(value) if isinstance(value, Path) else value)
        is_ranking = isinstance(value, Mapping) and any(
            isinstance(docs, Mapping) for docs in value.values()
        )
        if len(text) <= MAX_LITERAL_CHARACTERS and not is_ranking:
            return text
    return (
        name
        if hasattr(value, "columns") or isinstance(value, Mapping) or not hasattr(value, "to_dict")
        else f"{name}.to_dict()"
    )


def _format_dict(texts: Mapping[str, str]) -> str:
    return f"{{{', '.join(f'{name!r}: {text}' for name, text in texts.items())}}}"
