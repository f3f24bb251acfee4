"""Features of a candidate, as numbers for the weigher."""

from __future__ import annotations

import re

from sandtable.planner.ranking.candidates import Candidate, Field
from sandtable.planner.schema.entries import Json

NAMES = (
    "likelihood", "weakest", "place", "lead", "nothing", "rivals", "grammar", "grammar_elsewhere", "lookup",
    "lookup_elsewhere", "unknown", "unbound_words", "unbound_hard", "unasked", "unnamed", "words", "items",
    "conditions", "windowed", "grouped", "ordered", "limited", "derived", "nested", "tables", "columns", "whole_rows",
    "kin", "over_groups", "listed", "follows", "followed", "followed_elsewhere", "rule", "kept", "gone", "new",
    "kin_lead", "clean_rival", "metrics", "table_doubt", "column_doubt", "named_doubt", "word_doubt", "doubts",
    "loose", "content", "joined",
)  # fmt: skip
_OF_OTHERS = re.compile(r"'column': '(\w+\.[^']+)'")
HARD = frozenset(
    {"negation", "comparison", "number", "unit", "quoted", "superlative", "time", "aggregate", "chart"}
)


def features(candidate: Candidate, among: Field) -> list[float]:
    others = [each for each in among.candidates if each is not candidate]
    plan, found = candidate.plan, candidate.account
    best_other = max((each.likelihood for each in others), default=0.0)
    content = sum(u.end - u.start for u in found.unbound if u.kind == "content")
    text = str(plan)
    return [
        candidate.likelihood,
        candidate.doubts.weakest,
        float(candidate.place if candidate.place >= 0 else 9),
        candidate.likelihood - best_other,
        among.nothing,
        float(sum(each.likelihood > 0.05 for each in others)),
        candidate.grammar,
        max((each.grammar for each in others), default=0.0),
        candidate.lookup,
        max((each.lookup for each in others), default=0.0),
        float(len(among.unknown)),
        float(content),
        float(sum(u.kind in HARD for u in found.unbound)),
        float(len(found.unasked)),
        float(sum(not part.words for part in found.parts if part.kind in {"measure", "by", "where", "when"})),
        float(len(among.question.split())),
        float(len(plan.get("select", ()))),
        float(len(plan.get("filters", ()))),
        float("time" in plan),
        float("group_by" in plan or len(plan.get("select", ())) > 1),
        float("order_by" in plan),
        float("limit" in plan),
        float(len(plan.get("derive", ()))),
        float(text.count("'where'") + text.count("'exists'") + text.count("'any'")),
        float(len(among.index.tables)),
        float(sum(len(t.columns) for t in among.index.tables)),
        float("'*'" in text),
        sum(each.likelihood for each in among.candidates if each.core == candidate.core),
        float("define" in plan),
        float("'agg'" not in text and "'metric'" not in text),
        float(among.before is not None),
        candidate.followed,
        max((each.followed for each in others), default=0.0),
        among.rule,
        *_beside_before(candidate, among),
        *_beside_kin(candidate, among),
        float(text.count("'metric'")),
        candidate.doubts.table,
        candidate.doubts.column,
        candidate.doubts.named,
        candidate.doubts.word,
        float(candidate.doubts.many),
        float(len(found.loose)),
        float(sum(len(part.words) for part in found.parts)),
        float(_joined(plan)),
    ]


def _joined(plan: Json) -> int:
    """Columns of other tables that the plan uses."""
    return len(set(_OF_OTHERS.findall(str(plan))))


def _beside_kin(candidate: Candidate, among: Field) -> tuple[float, float]:
    """By how much plans that compute the same lead all others, and the likeliest other that accounts for every word."""
    kin: dict[str, float] = {}
    for each in among.candidates:
        kin[each.core] = kin.get(each.core, 0.0) + each.likelihood
    others = max((value for core, value in kin.items() if core != candidate.core), default=0.0)
    rivals = [
        e.likelihood
        for e in among.candidates
        if e.core != candidate.core and e.account.clean and e is not candidate
    ]
    return kin[candidate.core] - others, max(rivals, default=0.0)


def _beside_before(candidate: Candidate, among: Field) -> tuple[float, float, float]:
    """How many parts of the previous plan are kept, how many are gone, and how many are new."""
    if among.before is None:
        return 0.0, 0.0, 0.0
    mine = {(part.kind, part.label) for part in candidate.account.parts}
    earlier = among.earlier
    return float(len(mine & earlier)), float(len(earlier - mine)), float(len(mine - earlier))
