"""Answers as a Jupyter notebook that asks them again with `import sandtable`.

Invariant: a valid notebook of format 4.5, the same bytes for the same answers. Every value in a cell of code is written
as a Python literal, so that no question or plan can add code of its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from sandtable.answer_files.markdown import heading, words
from sandtable.answer_files.shown import Shown
from sandtable.capsule.query import CodeQuery, PlanQuery
from sandtable.runs.model import Run

_NEEDS = (
    "Each cell asks again with the Sandtable library, on the same dataset; the "
    "dataset must be known where the notebook runs. The run ids verify what was answered before: "
    "`sandtable verify RUN_ID`."
)


def notebook_of(shown: Sequence[Shown], title: str) -> str:
    cells = [_markdown(f"# {heading(title)}\n\n{_NEEDS}"), _code("import sandtable")]
    for number, one in enumerate(shown, 1):
        cells.extend(_cells(one, f"answer_{number}"))
    for number, made in enumerate(cells):
        made["id"] = f"{number:03d}-{hashlib.sha256(made['source'].encode()).hexdigest()[:12]}"
    document = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _cells(shown: Shown, name: str) -> Iterator[dict[str, Any]]:
    run = shown.run
    verified = f"\n\n*Answered by run `{run.id}`, data version `{run.dataset_version}`.*" if run else ""
    yield _markdown(words(shown) + verified)
    if run is not None and (code := _asking(shown, run, name)):
        yield _code(code)


def _asking(shown: Shown, run: Run, name: str) -> str:
    query, dataset = run.request.query, run.request.dataset_id
    if isinstance(query, CodeQuery):
        named = f", names={dict(query.names)!r}" if query.names else ""
        return f"{_running(query.code, shown.before, f'data={dataset!r}{named}', name)}\n{_shown_code(name)}"
    if isinstance(query, PlanQuery):
        question = run.request.question or shown.answer.question or "the plan"
        call = f"{name} = sandtable.ask({question!r}, data={dataset!r}, plan={_literal(query.plan)})"
    else:
        call = f"{name} = sandtable.ask({_text(query.sql)}, data={dataset!r})"
    return f"{call}\nprint({name}.text)\n{name}.table.records() if {name}.table else None"


def _running(code: str, before: Sequence[str], about: str, name: str) -> str:
    """Code of a session comes after the code that had run before it."""
    if not before:
        return f"{name} = sandtable.run({_text(code)}, {about})"
    earlier = [f"    session.run({cell!r})" for cell in before]
    return "\n".join(
        [f"with sandtable.Session({about}) as session:", *earlier, f"    {name} = session.run({code!r})"]
    )


def _shown_code(name: str) -> str:
    return f"print({name}.stdout)\n{name}.table.records() if {name}.table else {name}.error_message"


def _literal(value: Any) -> str:
    """JSON as a Python literal, laid out over lines."""
    return _laid_out(value, 0)


def _laid_out(value: Any, depth: int) -> str:
    inner, outer = "    " * (depth + 1), "    " * depth
    if isinstance(value, dict) and value:
        items = (f"{inner}{key!r}: {_laid_out(item, depth + 1)},\n" for key, item in value.items())
        return "{\n" + "".join(items) + outer + "}"
    if isinstance(value, list) and value:
        items = (f"{inner}{_laid_out(item, depth + 1)},\n" for item in value)
        return "[\n" + "".join(items) + outer + "]"
    return repr(value)


def _text(code: str) -> str:
    """Text of several lines as adjacent literals, one for each line."""
    lines = code.splitlines(keepends=True)
    return repr(code) if len(lines) < 2 else "\n" + "\n".join(f"    {line!r}" for line in lines) + "\n"


def _markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": "", "metadata": {}, "source": text}


def _code(text: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": "",
        "metadata": {},
        "outputs": [],
        "source": text,
    }
