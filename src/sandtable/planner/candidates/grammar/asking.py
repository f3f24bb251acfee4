"""The columns that a question asks for: those after its question word, not every column that it mentions."""

from __future__ import annotations

from sandtable.planner.candidates.grammar.draft import Draft, Spot
from sandtable.planner.candidates.grammar.grouping import entity_column
from sandtable.planner.candidates.grammar.measuring import metric_measure
from sandtable.planner.language.reading import FREE
from sandtable.planner.language.vocabulary import IMPLIED, RELATING
from sandtable.planner.schema.columns import asked_by, speaking_of
from sandtable.planner.schema.entries import ColumnEntry

_ASKING = frozenset(
    "which what what's whats list show give find display name return get provide identify tell print select see "
    "view report state".split()
)
_ASKING_LATE = frozenset("who where when how".split())
_JOINING = frozenset(
    "and , & the their its or also both along with versus vs against by as well corresponding".split()
)
_TRUE_LIST = frozenset("and , & plus versus vs".split())


def take_asked(draft: Draft) -> None:
    """Decide for each open spot whether it is asked for or only mentioned."""
    wanted = _wanted(draft)
    if draft.reading.lower(0) == "when":
        wanted = [s for s in draft.spots if s.open and s.number is not None and s.number.temporal] or wanted
    if draft.reading.lower(0) == "who":
        wanted = [s for s in wanted if s.column is None or s.column.text]
    for spot in draft.spots:
        if not spot.open:
            continue
        if spot.metric is not None:
            spot.role = "measured"
            draft.measures.append(metric_measure(spot.metric, spot.start))
        elif spot.table is not None:
            spot.role = "subject"
            _take_table(draft, spot)
        elif spot.column is not None and (spot not in wanted or _only_said(draft, spot)):
            spot.role = "mentioned"
            _mention(draft, spot)
        elif spot.column is not None:
            spot.role = "asked"
            if spot.column not in draft.asked and spot.column not in draft.groups:
                draft.asked.append(spot.column)
            _ambiguity(draft, spot)
    if not draft.asked and (draft.subject is None or draft.reading.lower(0) == "who"):
        _by_question_word(draft)


def _wanted(draft: Draft) -> list[Spot]:
    """The open spots in the part of the sentence that says what to show."""
    opened = [s for s in draft.spots if s.open and (s.columns or s.table)]
    begin = _question_word(draft)
    first = next((s for s in opened if s.start > begin), None)
    if first is None:
        return opened if begin < 0 else []
    if draft.reading.lower(begin) == "how" or _computed_first(draft, begin, first):
        return []
    wanted = [first]
    for spot in opened:
        if spot.start < wanted[-1].end:
            continue
        between = [draft.reading.lower(i) for i in range(wanted[-1].end, spot.start)]
        listed = all(word in _JOINING for word in between)
        if not between and wanted[-1].columns and spot.columns and not draft.rank:
            wanted[-1] = spot
        elif listed and (_TRUE_LIST & set(between) or wanted[-1].table is not None):
            wanted.append(spot)
    return wanted


def _computed_first(draft: Draft, begin: int, first: Spot) -> bool:
    """A count, an average or a highest value is asked for; columns said after it only describe it."""
    starts = [m.start for m in draft.measures]
    rank = draft.rank
    key = next((s for s in draft.spots if s.role == "rank"), None)
    ranked = rank is not None and rank.column is not None and key is not None and key.start < first.start
    if rank is not None and ranked and begin >= 0 and rank.start - begin <= 3:
        starts.append(rank.start)
    computed = [at for at in starts if begin <= at < first.start]
    between = {draft.reading.lower(i) for i in range(first.start - 2, first.start)}
    return bool(computed) and not between & {"and", ","}


def _question_word(draft: Draft) -> int:
    """The place of the question word; -1 when the question is only a noun phrase."""
    words = [w.lower for w in draft.reading.words]
    free = draft.reading.owner
    strong = [
        i
        for i, w in enumerate(words)
        if w in _ASKING and (w.startswith("wh") or (i <= 4 and free[i] == FREE))
    ]
    if strong:
        return strong[0]
    late = [i for i, w in enumerate(words) if w in _ASKING_LATE]
    return late[0] if late and late[0] <= 3 else -1


def _mention(draft: Draft, spot: Spot) -> None:
    known = any(c.column is spot.column for c in draft.conditions) or spot.column in draft.groups
    if not known:
        draft.doubt(0.9, f"{draft.reading.written(spot.start, spot.end)} was only spoken of")


def _only_said(draft: Draft, spot: Spot) -> bool:
    """Named in passing: `average age of patients`, or once more beside a condition on it."""
    column = spot.column
    if column is None or (draft.measures and _only_a_verb(draft, spot, column)):
        return True
    fixed = [c for c in draft.conditions if c.column is column]
    if fixed and (spot.columns[0].coverage < 0.9 or any(c.value is not None for c in fixed)):
        return len([s for s in draft.spots if s.open and s.columns]) > 1 or bool(draft.asked)
    before = draft.reading.lower(spot.start - 1)
    if before in {"all", "the"}:
        before = draft.reading.lower(spot.start - 2)
    aggregated = any("agg" in m.item or "metric" in m.item for m in draft.measures)
    return aggregated and before in {"of", "for", "among", "from"} and not column.numeric and not draft.rank


def _only_a_verb(draft: Draft, spot: Spot, column: ColumnEntry) -> bool:
    """`cars made each year` does not ask for the make."""
    word = draft.reading.words[spot.start]
    said = any(word.lower.startswith(name) for name in column.words)
    return spot.end == spot.start + 1 and word.stem in RELATING and not said


def _take_table(draft: Draft, spot: Spot) -> None:
    """`which device`, seen from its readings: one row for each device."""
    assert spot.table is not None
    before = {draft.reading.lower(spot.start - 1), draft.reading.lower(spot.start - 2)}
    computed = draft.measures or draft.bucket or (draft.rank and draft.rank.measure)
    column = entity_column(draft, spot.table) if spot.table.name != draft.home.name else None
    if column is not None and computed and before & {"which", "what"}:
        if column not in draft.groups:
            draft.asked.append(column)
    else:
        draft.subject = draft.subject or spot


def _ambiguity(draft: Draft, spot: Spot) -> None:
    best = spot.columns[0]
    rivals = [
        m for m in spot.columns[1:] if m.score >= best.score - 0.01 and isinstance(m.target, ColumnEntry)
    ]
    if rivals and best.coverage < 0.9:
        names = [m.target.name for m in (best, *rivals[:2]) if isinstance(m.target, ColumnEntry)]
        draft.doubt(0.85, f"{draft.reading.written(spot.start, spot.end)} could be {' or '.join(names)}")


def _by_question_word(draft: Draft) -> None:
    if _how_much(draft):
        return
    for at in range(min(3, len(draft.reading))):
        word = draft.reading.lower(at)
        if word not in {"who", "where", "when"}:
            continue
        if draft.measures and not draft.rank:
            return
        column = asked_by(word, draft.home)
        if column is not None and not any(c.column is column for c in draft.conditions):
            draft.asked.append(column)
            draft.doubt(0.9, f"{word} taken for {column.name}")
        return


def _how_much(draft: Draft) -> bool:
    """`how old is …`, `how much does … cost`: the adjective names the column."""
    if draft.measures or draft.rank or draft.reading.lower(0) not in {"how", "what"}:
        return False
    last = len(draft.reading) - 1
    while last > 0 and draft.reading.words[last].is_symbol:
        last -= 1
    words = [draft.reading.lower(1)] if draft.reading.lower(0) == "how" else []
    for word in [*words, draft.reading.lower(last)]:
        column = speaking_of(IMPLIED[word][0], draft.home) if word in IMPLIED else None
        if column is not None:
            draft.asked.append(column)
            for at, spoken in enumerate(draft.reading.words):
                if spoken.lower == word:
                    draft.reading.claim(at, at + 1, "asked")
            return True
    return False
