"""What the head of a statement says of how it computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlrank.plans.choice import DERIVED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.library.library import Library
    from sqlrank.question import Question


def stamp(question: Question, plans: Mapping[str, Any]) -> list[str]:
    """Return the lines that say how a statement computes, of the plans that it reads, and what to choose for something else."""
    library = question.library
    read = set().union(*(item.uses.settings for item in question.asked))
    read -= {"merging", "rest"} if plans.get("order") != "bucketed" else set()
    relations = set().union(*(item.uses.relations for item in question.asked))
    used = {
        name: plans[name]
        for name in library.plans
        if name in read and name in plans and name not in DERIVED and _matters(library, name, str(plans[name]), relations)
    }
    change = [said for name, value in used.items() if (said := _change(library, name, str(value)))]
    plain = "one scan of each input" if len(question.bases) < 2 else f"{' and '.join(question.bases)} are joined"  # noqa: PLR2004
    chosen = ", ".join(f"{name}={value}" for name, value in used.items())
    return [f"plan: {chosen or plain}", f"for another: {'; '.join(change) or 'there is none for these metrics'}"]


def _matters(library: Library, name: str, value: str, relations: set[str]) -> bool:
    """Whether what may be chosen instead on any engine, if there is something, reads other files of these relations."""
    values = library.plans[name]["values"]
    others = [said for other, said in values.items() if "engines" not in said or other == value]
    return len(others) < 2 or any(len({said.get(relation) for said in others}) > 1 for relation in relations)  # noqa: PLR2004


def _change(library: Library, name: str, value: str) -> str:
    """Return what to choose instead of a value, and when; nothing if that is the value itself."""
    said = str({**library.plans[name], **library.plans[name]["values"].get(value, {})}.get("change", ""))
    return "" if said.startswith(f"{name}={value}") else said
