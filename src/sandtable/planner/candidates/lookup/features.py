"""The scorer's input as hashed features: of a condition, of the column asked for, of the aggregate.

A feature is a text; its bucket is the CRC-32 of the text. Training and answering share this module, so a
change here needs new weights (`scripts/train_planner.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from zlib import crc32

from sandtable.planner.candidates.lookup.mentions import Mention
from sandtable.planner.candidates.lookup.reading import Nearness, Reading
from sandtable.planner.candidates.lookup.spans import Option, Span

BUCKETS = 1 << 20
Features = list[int]
Condition = tuple[Span, Option]

SMALL = frozenset(
    "a an the of in on at to for from by with and or is are was were be been being do does did has have had what "
    "which who whom whose when where why how that this these those it its there their his her they he she as into "
    "than then if list show tell me give find please can could would will many much all any each every i you we "
    "my our s".split()
)
_CLAIM = 3
_MOST_CONTENT = 30
_TIMES = frozenset(("year", "season", "dat"))
_HYPHENS = frozenset("-–—/:")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_CUES = (
    "highest lowest average total sum most least many much when who where date year number largest smallest "
    "maximum minimum first last latest earliest"
).split()


def hashed(features: list[str]) -> Features:
    return [crc32(feature.encode()) & (BUCKETS - 1) for feature in features]


def level(value: float, edges: tuple[float, ...]) -> int:
    count = 0
    for edge in edges:
        count += value > edge
    return count


def share_level(share: float) -> int:
    return level(share, (0.01, 0.3, 0.55, 0.8, 0.95))


def _distance_level(near: Nearness) -> str:
    if not near.share:
        return "x"
    return ("b" if near.distance >= 0 else "a") + str(level(abs(near.distance), (0, 1, 2, 3, 5, 9)))


def _joined(reading: Reading, span: Span) -> bool:
    """Whether the span is a piece of something like `4-0` or `3/27`."""
    tokens = reading.tokens
    left = span.start > 1 and tokens[span.start - 1] in _HYPHENS and tokens[span.start - 2] == "#"
    right = span.end + 1 < len(tokens) and tokens[span.end] in _HYPHENS and tokens[span.end + 1] == "#"
    return left or right


class SpanContext:
    """Data shared by all options of one span, computed once."""

    def __init__(self, reading: Reading, span: Span) -> None:
        tokens = reading.tokens
        self.reading = reading
        self.span = span
        self.near = {c: reading.near(c, span.start, span.end) for c in {o.column for o in span.options}}
        self.before = tokens[span.start - 1] if span.start else "<"
        self.before2 = tokens[span.start - 2] if span.start > 1 else "<"
        self.after = tokens[span.end] if span.end < len(tokens) else ">"
        self.after2 = tokens[span.end + 1] if span.end + 1 < len(tokens) else ">"
        self.form = "n" if span.number else "t"
        self.length = min(span.end - span.start, 5)
        self.overlap: frozenset[int] = frozenset().union(*reading.named[span.start : span.end])
        self.small = all(w.lower in SMALL for w in reading.words[span.start : span.end])
        self.columns = min(len(self.near), 4)
        self.joined = _joined(reading, span)
        self.year = bool(_YEAR.fullmatch(span.text))
        taken = {at for other in reading.spans for at in range(other.start, other.end)}
        window = [*range(span.start - 4, span.start), *range(span.end, span.end + 3)]
        self.window = [
            reading.words[at].stem
            for at in window
            if 0 <= at < len(tokens) and at not in taken and not reading.words[at].is_symbol
        ]

    def between(self, near: Nearness) -> str:
        """The words between a column's name and the value, with which of the two comes first."""
        if not near.share:
            return "-"
        if near.distance >= 0:
            first, last, order = near.end, self.span.start, ">"
        else:
            first, last, order = self.span.end, near.start, "<"
        return order + (" ".join(self.reading.tokens[first:last]) if last - first < 4 else "…")


def option_features(context: SpanContext, option: Option) -> Features:
    """Of reading the span as this condition."""
    reading, span = context.reading, context.span
    column = reading.view.columns[option.column]
    near = context.near[option.column]
    share, away = share_level(near.share), _distance_level(near)
    rank = min(3, sum(other.score > near.score + 1e-9 for other in context.near.values()))
    best_other = max((n.score for c, n in context.near.items() if c != option.column), default=0.0)
    op, form = option.op, context.form
    first = reading.mentions[option.column]
    near_asking = bool(first) and 0 <= first[0].start - reading.asking <= 2
    features = [
        f"c0{op}{column.kind}{form}",
        f"c1{share}",
        f"c2{share}{away}",
        f"c3{rank}{context.columns}",
        f"c4{level(near.score - best_other, (-0.6, -0.3, -0.1, -0.01, 0.01, 0.1, 0.3, 0.6))}",
        f"c5{context.columns}{form}",
        f"c6{context.length}{form}{column.kind}",
        f"c7{context.before}{op}",
        f"c8{context.before2} {context.before}",
        f"c9{context.after}{op}",
        f"ca{context.before} {context.after}",
        f"cb{min(2, len(context.overlap - {option.column}))}{option.column in context.overlap}{form}",
        f"cc{span.cue}{op}{form}",
        f"cd{context.year}{column.kind}{not _TIMES.isdisjoint(column.stems)}{share}",
        f"ce{level(span.start, (0, 2, 4))}",
        f"cf{context.small}{context.joined}",
        f"cg{column.spread}{form}{share}",
        f"ch{option.found}{form}",
        f"ci{context.before}{column.kind}{share > 2}",
        f"cj{near_asking}{share}{away}",
        f"ck{min(option.column, 3)}{form}{share > 0}",
        f"cl{context.after}{column.kind}",
        f"cm{context.before2} {context.before}{op}{share > 2}",
        f"cn{context.after} {context.after2}{op}",
        f"co{context.between(near)}{share > 2}",
        f"ct{isinstance(option.value, str) or column.allows(op, float(option.value))}{op}",
        f"cs{context.between(near)}{rank}{op}",
    ]
    for stem in column.stems[:4]:
        features.append(f"cp{stem}{share > 0}")
        features.append(f"cq{stem}{form}{context.before}")
        features += [f"cr{word}&{stem}" for word in context.window]
    return hashed(features)


def nothing_features(context: SpanContext) -> Features:
    """Of the span standing for no condition at all."""
    span, form = context.span, context.form
    best = max(context.near.values(), key=lambda n: n.score)
    whole = min(2, len(context.overlap))
    features = [
        f"n0{form}{context.length}",
        f"n1{context.before}",
        f"n2{context.after}",
        f"n3{context.before} {context.after}",
        f"n4{whole}{form}{context.length}",
        f"n5{share_level(best.share)}{_distance_level(best)}{whole}",
        f"n6{span.cue}{form}",
        f"n7{context.small}{context.columns}",
        f"ng{context.joined}{form}",
        f"n8{span.text.lower() if context.length == 1 and form == 't' else ''}",
        f"n9{level(span.start, (0, 1, 2, 4, 7))}{form}{whole}",
        f"na{context.columns}{form}",
        f"nb{context.before2} {context.before}",
        f"nc{len(context.reading.spans)}{form}{whole}",
        f"nd{span.options[0].found}{form}",
        f"ne{context.after} {context.after2}",
        f"nf{span.text[:1].isupper()}{form}{whole}",
    ]
    return hashed(features)


class AskContext:
    """Data shared by all columns that may be asked for, given one set of conditions."""

    def __init__(self, reading: Reading, conditions: Sequence[Condition]) -> None:
        self.reading = reading
        self.conditions = conditions
        self.taken = {at for span, _ in conditions for at in range(span.start, span.end)}
        self.used = {option.column for _, option in conditions}
        self.free = [self._free(place) for place in range(len(reading.view.columns))]
        self.best = [max(ms, key=self._worth, default=None) for ms in self.free]
        self.shares = [m.share if m else 0.0 for m in self.best]
        tokens = reading.tokens
        self.opening = " ".join(tokens[reading.asking : reading.asking + 2])
        self.asked = tokens[reading.asking]
        present = set(tokens)
        self.cues = [cue for cue in _CUES if cue in present]
        self.content = [
            word.stem
            for at, word in enumerate(reading.words)
            if at not in self.taken and not word.is_symbol and tokens[at] != "#"
        ][:_MOST_CONTENT]
        said = set(self.content)
        self.said = [
            sum((w for s, w in zip(c.stems, c.weights, strict=True) if s in said), 0.0)
            for c in reading.view.columns
        ]
        self.most_said = max(self.said)
        self.early = [m.start for m in self.best if m and m.share >= 0.5]

    def _free(self, place: int) -> list[Mention]:
        """Mentions that no condition has used: neither its value's words nor its column's name."""
        return [m for m in self.reading.mentions[place] if not self._claimed(m)]

    def _claimed(self, mention: Mention) -> bool:
        for span, option in self.conditions:
            if mention.start < span.end and span.start < mention.end:
                return True
            gap = span.start - mention.end if mention.end <= span.start else mention.start - span.end
            if option.column == mention.column and gap <= _CLAIM:
                return True
        return False

    def _worth(self, mention: Mention) -> float:
        return mention.share - 0.01 * abs(mention.start - self.reading.asking)


def column_features(context: AskContext, place: int) -> Features:
    """Of this column being the one asked for."""
    reading = context.reading
    column = reading.view.columns[place]
    mention = context.best[place]
    share = context.shares[place]
    covered = share_level(share)
    some = min(covered, 3)
    others = [s for at, s in enumerate(context.shares) if at != place]
    used = place in context.used
    kind, asked, opening = column.kind, context.asked, context.opening
    features = [
        f"s0{covered}",
        f"s1{used}{covered}",
        f"s2{min(3, sum(s > share for s in others))}",
        f"s3{level(share - max(others, default=0.0), (-0.6, -0.3, -0.1, -0.01, 0.01, 0.1, 0.3, 0.6))}",
        f"s4{opening}{kind}{some}",
        f"s5{asked}{kind}{used}",
        f"s6{min(place, 3)}{some}",
        f"s7{column.spread}{some}",
        f"s8{len(context.conditions)}{used}{some}",
        f"s9{kind}{some}",
        f"sg{level(context.said[place], (0.01, 0.3, 0.5, 0.7, 0.9))}{covered}",
        f"sh{level(context.said[place], (0.01, 0.3, 0.5, 0.7, 0.9))}{context.said[place] >= context.most_said}",
    ]
    features += [f"sa{cue}{kind}{some}" for cue in context.cues]
    for stem in column.stems[:5]:
        features += [f"sb{opening}&{stem}", f"sc{asked}&{stem}{some}", f"sd{stem}{some}"]
        features += [f"se{word}&{stem}" for word in context.content]
    features += [f"sf{word}{kind}{covered > 0}" for word in context.content]
    if mention:
        features += _mention_features(context, mention, covered)
    return hashed(features)


def _mention_features(context: AskContext, mention: Mention, covered: int) -> list[str]:
    tokens = context.reading.tokens
    start, end = mention.start, mention.end
    before = tokens[start - 1] if start else "<"
    before2 = tokens[start - 2] if start > 1 else "<"
    after = tokens[end] if end < len(tokens) else ">"
    behind = level(start - context.reading.asking, (-1, 0, 1, 2, 3, 5, 8))
    contained = any(
        other and other.column != mention.column and other.start <= start and other.end >= end
        and other.said > mention.said
        for other in context.best
    )  # fmt: skip
    return [
        f"t0{behind}{covered}",
        f"t1{level(start, (1, 2, 4, 7, 11))}{min(covered, 3)}",
        f"t2{before}",
        f"t3{after}",
        f"t4{before2} {before}",
        f"t5{before} {after}",
        f"t6{covered >= 3 and not any(at < start for at in context.early)}",
        f"t7{contained}{covered}",
        f"t8{mention.exact}{mention.said}{covered}",
        f"t9{end == len(tokens)}{covered}",
        f"ta{sum(at < start for at in context.early)}{min(covered, 3)}",
    ]


def aggregate_features(context: AskContext, place: int) -> Features:
    """Of the aggregate over this column; the caller crosses them with each aggregate."""
    reading = context.reading
    column = reading.view.columns[place]
    kind = column.kind
    tokens = [t for at, t in enumerate(reading.tokens) if at not in context.taken and t not in ",?.'\"()"]
    features = [f"u{token}" for token in tokens]
    features += [f"v{token}{kind}" for token in tokens]
    features += [f"w{one} {two}" for one, two in pairwise(tokens)]
    features += [f"x0{' '.join(tokens[:2])}{kind}", f"x1{' '.join(tokens[:3])}", f"x2{kind}"]
    features += [f"x3{min(3, len(context.conditions))}{kind}", f"x4{column.spread}{kind}"]
    features += [f"x5{stem}" for stem in column.stems]
    mention = context.best[place] or next(iter(reading.mentions[place]), None)
    if mention and mention.share > 0.3 and mention.start:
        before = reading.tokens[mention.start - 1]
        before2 = reading.tokens[mention.start - 2] if mention.start > 1 else "<"
        features += [f"x6{before}{kind}", f"x7{before2} {before}", f"x8{before2} {before}{kind}"]
    features += [f"x9{option.op}{kind}" for _, option in context.conditions]
    return hashed(features)
