"""What tells a right candidate from a wrong one, as numbers for the weigher."""

from __future__ import annotations

from sandtable.planner.ranking.candidates import Candidate, Field

NAMES = (
    "likelihood", "weakest", "place", "lead", "nothing", "rivals", "grammar", "grammar_elsewhere", "lookup",
    "lookup_elsewhere", "unknown", "unbound_words", "unbound_hard", "unasked", "unnamed", "words", "items",
    "conditions", "windowed", "grouped", "ordered", "limited", "derived", "nested", "tables", "columns", "whole_rows",
    "kin", "over_groups", "listed",
)  # fmt: skip
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
        candidate.weakest,
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
    ]
