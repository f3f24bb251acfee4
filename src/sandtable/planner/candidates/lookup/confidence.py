"""Features of a right guess: how confident each step was, and which words it leaves unexplained."""

from __future__ import annotations

from itertools import pairwise

from sandtable.planner.candidates.lookup.features import SMALL, Features, hashed, level, share_level
from sandtable.planner.candidates.lookup.guesses import Guess

CUES: dict[str, frozenset[str]] = {
    "min": frozenset(
        "lowest least minimum smallest earliest fewest first min worst shortest youngest lightest slowest "
        "early low bottom cheapest".split()
    ),
    "max": frozenset(
        "highest most maximum max largest latest biggest greatest best last top longest newest recent high "
        "heaviest tallest oldest".split()
    ),
    "sum": frozenset("total sum combined overall altogether totals".split()),
    "avg": frozenset("average mean avg".split()),
    "count": frozenset("many number count total amount times".split()),
}
"""Words that ask for an aggregate."""
_CUED = frozenset[str]().union(*CUES.values())
_CHANCES = (-4.0, -2.5, -1.6, -1.1, -0.8, -0.55, -0.35, -0.22, -0.13, -0.07, -0.03, -0.01, -0.003, -0.001)
_ASKING = frozenset("name what which who when where how list give tell show".split())


def unexplained(guess: Guess) -> list[int]:
    """Places of the words that neither a condition, nor the column asked for, nor the aggregate accounts for."""
    context = guess.context
    reading = context.reading
    explained = set(context.taken)
    mention = context.best[guess.column]
    if mention:
        explained.update(range(mention.start, mention.end))
    for span, option in guess.conditions:
        near = reading.near(option.column, span.start, span.end)
        if near.share >= 0.25:
            explained.update(range(near.start, near.end))
        if option.op != "=":
            explained.update(range(max(0, span.start - 2), span.start))
    cues = CUES[guess.aggregate] if guess.aggregate else frozenset[str]()
    return [
        at
        for at, word in enumerate(reading.words)
        if at not in explained
        and not word.is_symbol
        and word.lower not in SMALL
        and word.lower not in _ASKING
        and word.lower not in cues
    ]


def confidence_features(guess: Guess, best_other: float) -> Features:
    """`best_other` is the total of the likeliest other guess."""
    context = guess.context
    reading = context.reading
    column = reading.view.columns[guess.column]
    aggregate = guess.aggregate or "-"
    share = share_level(context.shares[guess.column])
    left = unexplained(guess)
    content = sum(not w.is_symbol and w.lower not in SMALL and w.lower not in _ASKING for w in reading.words)
    used = {id(span) for span, _ in guess.conditions}
    idle = [span for span in reading.spans if id(span) not in used]
    loose_numbers = sum(reading.tokens[at] == "#" for at in left)
    cued = sorted({token for token in reading.tokens if token in _CUED})
    named = _named_elsewhere(guess)
    conditions = len(guess.conditions)
    left_level = min(len(left), 5)
    features = [
        "g0",
        f"g1{level(guess.by_conditions, _CHANCES)}",
        f"g2{level(guess.by_column, _CHANCES)}",
        f"g3{level(guess.by_aggregate, _CHANCES)}",
        f"g4{level(guess.total, _CHANCES)}",
        f"g5{level(guess.total - best_other, (-2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4, 6))}",
        f"g6{aggregate}{column.kind}{share}",
        f"g7{conditions}{aggregate}",
        f"g8{left_level}",
        f"g9{left_level}{conditions}",
        f"ga{level(len(left) / max(1, content), (0.01, 0.15, 0.3, 0.5, 0.7))}{min(conditions, 2)}",
        f"gb{min(loose_numbers, 2)}{left_level}",
        f"gc{min(len(idle), 2)}{conditions}",
        f"gd{aggregate}{bool(guess.aggregate) and bool(CUES[guess.aggregate] & set(reading.tokens))}{share}",
        f"ge{min(named, 3)}{conditions}",
        f"gf{share}{left_level}",
        f"gg{guess.column in context.used}{share}",
        f"gh{context.opening}{share > 2}",
        f"gi{min(len(reading.words) // 5, 6)}{conditions}",
        f"gj{level(context.said[guess.column], (0.01, 0.3, 0.5, 0.7, 0.9))}{share}",
    ]
    features += [f"gk{cue}{aggregate}" for cue in cued]
    features += _loose_ends(guess, left)
    features += [f"gl{reading.words[at].stem}" for at in left]
    features += [f"gm{idle_one.number}{min(idle_one.end - idle_one.start, 3)}" for idle_one in idle]
    free = [t for at, t in enumerate(reading.tokens) if at not in context.taken]
    features += [f"gn{token}" for token in free if token in SMALL or token in _CUED]
    features += [f"go{one} {two}" for one, two in pairwise(free) if one in SMALL]
    for span, option in guess.conditions:
        near = reading.near(option.column, span.start, span.end)
        features.append(f"gp{share_level(near.share)}{option.op}{option.found}{span.number}")
    return hashed(features)


def _loose_ends(guess: Guess, left: list[int]) -> list[str]:
    """Runs of unexplained words: after which word, how long, whether names; and what is counted."""
    reading = guess.context.reading
    tokens, words = reading.tokens, reading.words
    found: list[str] = []
    at = 0
    while at < len(left):
        end = at + 1
        while end < len(left) and left[end] == left[end - 1] + 1:
            end += 1
        start, length = left[at], min(end - at, 3)
        before = tokens[start - 1] if start else "<"
        last = left[end - 1] + 1 >= len(tokens) - 1
        capital = start > 0 and words[start].text[:1].isupper()
        found += [f"gq{before}{length}{last}", f"gr{capital}{length}", f"gs{capital}{before}"]
        at = end
    if guess.aggregate == "count":
        loose = set(left)
        asked = next((at for at, t in enumerate(tokens) if t in ("many", "number", "much")), -1)
        noun = asked + 1 + (tokens[asked + 1 : asked + 2] == ("of",))
        found.append(f"gt{asked >= 0}{noun in loose}{words[noun].stem if noun in loose else ''}")
        found.append(f"gu{asked >= 0}{noun in loose}")
    return found


def _named_elsewhere(guess: Guess) -> int:
    """Columns that are named in full and play no part in the guess."""
    context = guess.context
    parts = {guess.column, *context.used}
    return sum(
        mention.share >= 0.8 and mention.exact
        for place, mention in enumerate(context.best)
        if mention and place not in parts
    )
