"""The final answer of an analysis: the model's sentences that the cells confirm, otherwise our own sentence.

Invariant: pure. Every sentence of the model that is kept is true of a table that was shown, or of numbers that were
printed with a label; every tag names something that was shown, and whatever is shown has its tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from sandtable.agent.grounding import Facts, facts_of, printed_facts, sentence_grounded
from sandtable.agent.markdown import fenced, sentence
from sandtable.catalog.model import Dataset
from sandtable.errors import ErrorCode, Problem
from sandtable.quoting import in_markdown
from sandtable.runs.model import Run
from sandtable.sandbox.artifact import TableArtifact
from sandtable.wording import answer_of
from sandtable.wording.meanings import result_of

MOST_TAGS = 6
_MOST_PRINTED = 1_500
_MOST_READ = 20_000
_MOST_ROWS, _MOST_COLUMNS = 200, 50
"""Limits for each table; the model has seen less of it."""
_TAG = re.compile(r"\[\[([a-z]+-[1-9][0-9]{0,5})\]\]")
_PLACED = re.compile(rf"[ \t]*{_TAG.pattern}[ \t]*")
_TAG_LINE = re.compile(r"[ \t]*\[\[[a-z]+-\d+\]\][ \t]*$", re.MULTILINE)
_BULLET = re.compile(r"^\s*(?:[-*+]|\d{1,2}[.)])\s+")
_BLOCK = re.compile(r"^\s*(?:#|\||>)")
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"'(*A-ZÀ-ÞЀ-Я\[])")

_GIVEN_UP = {
    ErrorCode.PYTHON_POLICY_VIOLATION: "The code was refused by policy and not run",
    ErrorCode.RUNNER_TIMEOUT: "The code took too long",
    ErrorCode.RUNNER_RESOURCE_EXCEEDED: "The code needed more memory or space than it may use",
    ErrorCode.SANDBOX_UNAVAILABLE: "There is no sandbox to run it in",
    ErrorCode.QUEUE_FULL: "The code was not run",
    ErrorCode.DATA_DAMAGED: "Nothing was answered",
}


def local_answer(question: str, main: Run | None, dataset: Dataset) -> str:
    """A sentence made from the result's rows, or from the printed output if there are none."""
    if main is None:
        return "The analysis gave no result."
    if main.columns:
        columns = [(column.name, column.type) for column in main.columns]
        return answer_of(
            question,
            None,
            columns,
            main.rows or (),
            dataset,
            truncated=main.truncated,
            row_count=main.row_count,
        )
    printed = _TAG_LINE.sub("", main.stdout).strip()
    if not printed:
        return "The analysis ran without an error; it printed nothing and showed no table."
    shown = printed if len(printed) <= _MOST_PRINTED else "…" + printed[-_MOST_PRINTED:]
    return f"The analysis printed:\n\n{fenced('text', shown)}"


def worded_answer(text: str, plain: str, question: str, runs: Sequence[Run], dataset: Dataset) -> str:
    """The model's text without the sentences that no cell confirms; `plain` if nothing is left. It may take a
    while."""
    tables = list(_everything(question, runs, dataset))
    ours = {_bare(sentence) for sentence in _SENTENCE_END.split(plain)}

    def borne_out(part: str) -> bool:
        bare = _TAG.sub(" ", part).replace("**", "").strip()
        return not bare or _bare(bare) in ours or sentence_grounded(bare, tables)

    kept: list[str] = []
    for line in _FENCED.sub("", text).splitlines():
        if _BLOCK.match(line):
            continue
        bullet = _BULLET.match(line)
        head = "- " if bullet else ""
        parts = [
            part for part in _SENTENCE_END.split(line[len(bullet[0]) if bullet else 0 :]) if borne_out(part)
        ]
        joined = " ".join(parts).strip().replace("**", "")
        if joined or not line.strip():
            kept.append(f"{head}{joined}" if joined else "")
    made = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()
    return made if _TAG.sub("", made).strip() else plain


def with_tags(text: str, shown: Sequence[str], wanted: Iterable[str]) -> str:
    """Keeps each tag once, and only for what was shown; missing tags in `wanted` are appended."""
    placed: set[str] = set()

    def once(tag: re.Match[str]) -> str:
        if tag[1] not in shown or tag[1] in placed:
            return ""
        placed.add(tag[1])
        return f"\n\n[[{tag[1]}]]\n\n"

    made = _PLACED.sub(once, text)
    missing = [name for name in wanted if name not in placed][:MOST_TAGS]
    made = "\n\n".join([made.strip(), *(f"[[{name}]]" for name in missing)])
    return re.sub(r"[ \t]*\n{3,}", "\n\n", made).strip()


def given_up(problem: Problem | None, step: int, goal: str, attempts: int) -> str:
    """The text for a failed analysis: what failed, why, and how often it was tried."""
    lead = _lead(problem) if problem else "The run was cancelled"
    where = f" at step {step} ({in_markdown(goal.rstrip('.'))})" if goal else ""
    parts = [f"The analysis could not be finished{where}."]
    if problem is None:
        parts.append(f"{lead}, so there is no result.")
        return "\n\n".join(parts)
    kind = str(problem.details.get("type") or "")
    told = f"{kind}: {problem.message}" if kind and not problem.message.startswith(kind) else problem.message
    parts.append(f"{lead}:\n\n{fenced('text', told[:_MOST_PRINTED])}")
    if problem.suggestion:
        parts.append(sentence(in_markdown(problem.suggestion)))
    if attempts > 1:
        parts.append(f"I tried this step {attempts} times, each time with the reason in hand.")
    return "\n\n".join(parts)


def _lead(problem: Problem) -> str:
    if "model" in problem.details:
        return "The chat model wrote no code for it"
    return _GIVEN_UP.get(problem.code, "The code failed")


def _everything(question: str, runs: Sequence[Run], dataset: Dataset) -> Iterator[Facts]:
    """What each table says, and what was printed with a label."""
    for run in runs:
        for artifact in run.artifacts:
            if isinstance(artifact, TableArtifact) and artifact.columns:
                columns = [(column.name, column.type) for column in artifact.columns[:_MOST_COLUMNS]]
                rows = [row[:_MOST_COLUMNS] for row in artifact.rows[:_MOST_ROWS]]
                total, cut = artifact.row_count, artifact.truncated
                yield facts_of(result_of(question, None, columns, rows, dataset, total, cut, None))
        if run.stdout.strip():
            yield printed_facts(run.stdout[:_MOST_READ])


def _bare(sentence: str) -> str:
    return " ".join(sentence.split()).rstrip(".!")
