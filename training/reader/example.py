"""A question over a dataset with the sketch that it means: what the network learns from."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evals.public.relations import Relation
from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.errors import SandtableError
from sandtable.plan.validate import check_plan, parse_plan
from sandtable.planner.candidates.network.plans import plan_of
from sandtable.planner.candidates.network.sketch import Token
from sandtable.planner.schema.entries import Json

_QUOTED = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"")


@dataclass(frozen=True, slots=True)
class Example:
    source: str
    """Where it comes from: `own`, `none`, `dialogue`, `wikisql`, `spider`, `wtq` or `template`."""
    dataset: Dataset
    """Examples over the same data share the object."""
    profile: Profile
    question: str
    sketch: tuple[Token, ...]
    tune: bool
    """Whether it may only measure, never train."""
    before: Json | None = None
    """The plan of the answer that the question follows."""
    relations: tuple[Relation, ...] = ()
    """The rows, where the set has them."""
    answers: tuple[str, ...] = ()
    """The cells of the right result, where no sketch is known."""


def fault_of(sketch: tuple[Token, ...], dataset: Dataset) -> str | None:
    """Why the sketch is no plan over the dataset, without names, so that reasons can be counted; None when it is."""
    plan = plan_of(sketch, dataset.id)
    if plan is None:
        return "means no plan"
    try:
        problems = check_plan(parse_plan(plan), dataset)
    except SandtableError as error:
        return f"not a plan: {_nameless(str(error))}"
    return _nameless(problems[0].message) if problems else None


def _nameless(message: str) -> str:
    return _QUOTED.sub("…", message)
