"""Checks the sealed questions against their data and prints what is in the set: `python evals/sealed/check.py`.

`--write` computes the answers again from the gold queries; every such change needs a line in the README's log.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from evals.sealed.load import (
    DIALOGUES,
    QUESTIONS,
    Data,
    Item,
    answer_of,
    lines,
    read_questions,
    read_turns,
    source_of,
)

FAMILIES = tuple(
    "count sum average median superlative top group group-time filters negation comparison conversion window periods "
    "share rate correlation date-diff columns rate-superlative nested new-returning versus yes-no measures distinct "
    "why distribution running rank ties list lookup calendar synonym metric join text nulls flag ids recent "
    "first-last chart".split()
)
REASONS = tuple(
    "no-column no-entity no-period no-concept near-miss unit cause forecast write not-a-question by-what which-column "
    "which-period which-value vague".split()
)
STYLES = tuple("lower typo polite long indirect british per-group".split())
TURNS = tuple(
    "first and-for only remove break-down instead same of-those as-percent compare change-measure add-measure "
    "add-value limit sort back correction clarify several unrelated".split()
)
EXPECTATIONS = ("answer", "ask", "decline")
BUILT_IN = ("ecommerce", "support", "sensors")
MOST_ROWS = 200
"""What the product shows of a result unless a limit is set."""

# Their result depends on the order of rows or hides a tie.
_HIDES_TIES = re.compile(
    r"\blimit\b|\b(?:max|min)_by\b|\barg_m|\bany_value\b|\b(?:first|last|mode)\(", re.IGNORECASE
)


def structure_problems(items: Iterable[Item]) -> Iterator[str]:
    seen: set[str] = set()
    known = {*FAMILIES, *REASONS, *STYLES, *TURNS}
    for item in items:
        if item.id in seen:
            yield f"{item.id}: used twice"
        seen.add(item.id)
        if item.expect not in EXPECTATIONS:
            yield f"{item.id}: expects {item.expect!r}"
        if len(item.gold) != len(item.answers):
            yield f"{item.id}: {len(item.gold)} queries, {len(item.answers)} answers"
        if item.expect == "answer" and not item.gold:
            yield f"{item.id}: no query"
        if item.expect != "answer" and not item.why:
            yield f"{item.id}: no reason"
        if unknown := set(item.tags) - known:
            yield f"{item.id}: unknown tags {sorted(unknown)}"


def gold_problems(items: Iterable[Item], data: Data) -> Iterator[str]:
    """Every query gives the answer that is written down.

    `data` has its rows in the opposite order of the files, from which the answers were written: an answer that
    depends on the order of rows is not the same here.
    """
    for item in items:
        for sql, answer in zip(item.gold, item.answers, strict=True):
            try:
                rows = data.rows(item.source, sql)
                yield from (f"{item.id}: {problem}: {sql}" for problem in _of_result(item, sql, rows, data))
            except duckdb.Error as error:
                yield f"{item.id}: {error}"
                continue
            if not same_answer(answer, answer_of(rows), ordered=item.ordered):
                yield f"{item.id}: the answer is not, or not always, that of {sql}"


def _of_result(item: Item, sql: str, rows: list[tuple[Any, ...]], data: Data) -> Iterator[str]:
    if _HIDES_TIES.search(sql):
        yield "may hide a tie"
    if len(rows) > MOST_ROWS:
        yield f"{len(rows)} rows"
    if item.expect == "decline":
        return
    if not rows:
        yield "no rows"
    if item.expect == "ask" or "ties" in item.tags:
        return
    if "rank()" in sql and len(data.rows(item.source, sql.replace("rank()", "row_number()"))) != len(rows):
        yield "a tie"
    if "superlative" in item.tags and "per-group" not in item.tags and len(rows) != 1:
        yield f"a superlative with {len(rows)} rows"


def same_answer(expected: Any, found: Any, *, ordered: bool) -> bool:
    if isinstance(expected, list) and isinstance(found, list):
        if not ordered:
            expected, found = sorted(expected, key=_rough), sorted(found, key=_rough)
        pairs = zip(expected, found, strict=False)
        return len(expected) == len(found) and all(same_answer(a, b, ordered=True) for a, b in pairs)
    if isinstance(expected, int | float) and isinstance(found, int | float):
        return math.isclose(expected, found, rel_tol=1e-8, abs_tol=1e-12)
    return expected == found


def _rough(value: Any) -> str:
    """A key under which values that differ in their last digits only stand together."""
    if isinstance(value, list):
        return json.dumps([_rough(cell) for cell in value])
    return f"{value:.6g}" if isinstance(value, int | float) else repr(value)


def balance_problems(questions: list[Item], dialogues: int) -> Iterator[str]:
    """The set has the size and the mixture that the README promises."""
    tags = Counter(tag for item in questions for tag in item.tags)
    yield from (f"family {family}: {tags[family]} questions" for family in FAMILIES if tags[family] < 8)
    built_in = sum(item.source[0] in BUILT_IN for item in questions) / len(questions)
    abstain = sum(item.expect != "answer" for item in questions) / len(questions)
    if len(questions) < 440 or dialogues < 60:
        yield f"{len(questions)} questions, {dialogues} dialogues"
    if not 0.4 <= built_in <= 0.6:
        yield f"{built_in:.0%} of the questions are about built-in datasets"
    if not 0.28 <= abstain <= 0.4:
        yield f"{abstain:.0%} of the questions have no single answer"


def summary(questions: list[Item], turns: list[Item]) -> str:
    rows = ["| | questions | answer | ask | decline | turns |", "|---|---|---|---|---|---|"]
    sources = list(dict.fromkeys(item.source for item in questions))
    for source in sources:
        name = ", ".join(Path(part).stem for part in source)
        rows.append(
            _row(name, [q for q in questions if q.source == source], [t for t in turns if t.source == source])
        )
    rows.append(_row("**all**", questions, turns))
    tags = Counter(tag for item in questions for tag in item.tags)
    of_turns = Counter(tag for item in turns for tag in item.tags)
    for title, names, counts in (
        ("families", FAMILIES, tags),
        ("why there is no single answer", REASONS, tags),
        ("style", STYLES, tags),
        ("turns", TURNS, of_turns),
    ):
        rows.append(f"\n{title}: " + ", ".join(f"{name} {counts[name]}" for name in names))
    return "\n".join(rows)


def _row(name: str, questions: list[Item], turns: list[Item]) -> str:
    expect = Counter(item.expect for item in questions)
    cells = [name, len(questions), *(expect[word] for word in EXPECTATIONS), len(turns)]
    return "| " + " | ".join(map(str, cells)) + " |"


def write_answers(path: Path, data: Data) -> None:
    written: list[str] = []
    for line in lines(path):
        for turn in line.get("turns", [line]):
            for part in turn.get("parts", [turn]):
                source = source_of(line)
                part["answers"] = [answer_of(data.rows(source, sql)) for sql in part["gold"]]
        written.append(json.dumps(line, ensure_ascii=False) + "\n")
    path.write_text("".join(written), "utf-8")


def problems(made: Path) -> list[str]:
    """Everything that is wrong with the set; built-in datasets are generated into `made`."""
    questions, turns = read_questions(), read_turns()
    items = questions + turns
    found = [*structure_problems(items), *balance_problems(questions, len(lines(DIALOGUES)))]
    if found:
        return found
    with closing(Data(made, backwards=True)) as data:
        return list(gold_problems(items, data))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="compute the answers again")
    write = parser.parse_args().write
    with tempfile.TemporaryDirectory() as folder:
        if write:
            with closing(Data(Path(folder))) as data:
                for path in (QUESTIONS, DIALOGUES):
                    write_answers(path, data)
        found = problems(Path(folder))
    print(summary(read_questions(), read_turns()))
    print("\n".join(["", *found]) if found else "\nno problems")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
