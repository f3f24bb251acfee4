"""Answers as Markdown, notebook and CSV: inert text, valid files, names by question."""

from __future__ import annotations

import ast
import io
import json
import re
import zipfile
from dataclasses import replace
from typing import Any

import pytest

from sandtable.answer_files.forms import ENDINGS, MEDIA_TYPES, AnswerFile, Form, file_of
from sandtable.answer_files.shown import Shown
from sandtable.answer_files.tables import file_name
from sandtable.capsule.query import CodeQuery, PlanQuery, Query, SqlQuery
from sandtable.capsule.seal import seal
from sandtable.errors import NotFound
from sandtable.proof_page.make import Answer
from sandtable.runs.model import Run, RunRequest
from sandtable.sandbox.job import Limits, ResultColumn
from tests.capsule.samples import KEY, PLAN, VERSION, capsule

HOSTILE = "</script> [x](javascript:alert(1))\n# '''\"\"\"\nimport os; os.remove('x') | <b> \\"


def shown(query: Query, question: str = "total by region?", **changes: Any) -> Shown:
    run = Run(
        id="run_018f00000000",
        status="succeeded",
        request=RunRequest(dataset_id="shop", query=query, question=question),
        dataset_version=VERSION,
        limits=Limits(),
        created_at="2024-05-01T10:00:00.000Z",
        finished_at="2024-05-01T10:00:00.120Z",
        executed_sql=None if isinstance(query, CodeQuery) else "SELECT 1",
        columns=(ResultColumn(name="region", type="VARCHAR"), ResultColumn(name="total", type="DOUBLE")),
        rows=(("North", 12.5), ("=cmd|x", -1.0)),
        row_count=2,
    )
    answer = Answer(question=question, sentence="North leads.", reading="sum of totals")
    return Shown(answer, run.model_copy(update=changes))


WORDS = Shown(Answer(question="and now?", sentence="Which one do you mean?"))
ALL = (
    shown(PlanQuery(PLAN)),
    shown(SqlQuery("SELECT 1;\nSELECT 2")),
    shown(CodeQuery("x = 1\nprint(x)")),
    WORDS,
)


async def made(form: Form, *given: Shown, title: str = "Totals, by region!") -> AnswerFile:
    async def page(answers: Any, words: str) -> str:
        return f"{words}: {len(answers)}"

    return await file_of(form, given or ALL, title, page)


@pytest.mark.parametrize("form", ENDINGS)
async def test_every_form_has_a_name_and_a_type(form: Form) -> None:
    file = await made(form)
    assert file.name == f"totals-by-region.{ENDINGS[form]}"
    assert file.media_type == MEDIA_TYPES[form] and file.content == (await made(form)).content


async def test_markdown_has_question_sentence_table_and_statement() -> None:
    text = (await made("markdown")).content.decode()
    for part in ("# Totals, by region", "## total by region", "North leads.", "| North | 12.5 |", "```sql"):
        assert part in text
    assert "```python\nx = 1" in text and "sandtable verify run_018f00000000" in text
    assert "Which one do you mean?" in text


async def test_markdown_says_what_is_left_out_and_what_failed() -> None:
    many = shown(SqlQuery("SELECT 1"), rows=tuple((str(n), 1.0) for n in range(1_200)), truncated=True)
    text = (await made("markdown", many)).content.decode()
    assert "Shown: the first 1,000 of 1,200 rows." in text and "The query had more rows." in text
    failed = shown(SqlQuery("SELECT 1"), status="failed", rows=None)
    assert "The run is failed." in (await made("markdown", failed)).content.decode()


async def test_hostile_words_stay_text_in_markdown() -> None:
    text = (await made("markdown", shown(SqlQuery("SELECT 1"), HOSTILE), title=HOSTILE)).content.decode()
    headings = [re.sub(r"`[^`]*`", "", line) for line in text.splitlines() if line.startswith("#")]
    assert len(headings) == 2 and not any("<" in line or "](" in line for line in headings)


async def test_the_notebook_is_valid_and_asks_again() -> None:
    book = json.loads((await made("notebook")).content)
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in book["cells"]]
    assert len(set(ids)) == len(ids) and all(0 < len(one) <= 64 for one in ids)
    for cell in book["cells"]:
        extra = {"outputs", "execution_count"} if cell["cell_type"] == "code" else set()
        assert set(cell) == {"cell_type", "id", "metadata", "source"} | extra
    code = [cell["source"] for cell in book["cells"] if cell["cell_type"] == "code"]
    assert code[0] == "import sandtable" and len(code) == 4
    calls = [_call(text) for text in code[1:]]
    assert calls[0] == ("ask", ["total by region?"], {"data": "shop", "plan": PLAN})
    assert calls[1] == ("ask", ["SELECT 1;\nSELECT 2"], {"data": "shop"})
    assert calls[2] == ("run", ["x = 1\nprint(x)"], {"data": "shop"})


def _call(text: str) -> tuple[str, list[Any], dict[str, Any]]:
    first = ast.parse(text).body[0]
    assert isinstance(first, ast.Assign) and isinstance(first.value, ast.Call)
    call = first.value
    assert isinstance(call.func, ast.Attribute)
    named = {one.arg or "": ast.literal_eval(one.value) for one in call.keywords}
    return call.func.attr, [ast.literal_eval(one) for one in call.args], named


@pytest.mark.parametrize(
    "query", [PlanQuery({"table": HOSTILE, HOSTILE: [HOSTILE]}), SqlQuery(HOSTILE), CodeQuery(HOSTILE)]
)
async def test_hostile_words_add_no_code_to_the_notebook(query: Query) -> None:
    book = json.loads((await made("notebook", shown(query, HOSTILE))).content)
    tree = ast.parse(book["cells"][-1]["source"])
    assert [type(one).__name__ for one in tree.body] == ["Assign", "Expr", "Expr"]
    name, given, _ = _call(book["cells"][-1]["source"])
    assert given == [HOSTILE] and name == ("run" if isinstance(query, CodeQuery) else "ask")


async def test_a_cell_of_a_session_comes_after_the_cells_before_it() -> None:
    code = capsule(
        plan=None,
        sql=None,
        executed_sql=None,
        mode="python",
        python="print(x)",
        names={},
        before=[{"python": "x = 1", "interrupted": False}, {"python": "while 1: 0", "interrupted": True}],
    )
    given = shown(CodeQuery("print(x)"))
    answer = replace(given.answer, capsules=(seal(code, KEY),))
    book = json.loads((await made("notebook", replace(given, answer=answer))).content)
    lines = book["cells"][-1]["source"].splitlines()
    assert lines[:3] == [
        "with sandtable.Session(data='shop') as session:",
        "    session.run('x = 1')",
        "    answer_1 = session.run('print(x)')",
    ]


async def test_tables_are_named_by_their_questions() -> None:
    archive = zipfile.ZipFile(io.BytesIO((await made("csv")).content))
    assert archive.namelist() == [f"0{n}-total-by-region.csv" for n in (1, 2, 3)]
    assert archive.read("01-total-by-region.csv").decode() == "region,total\r\nNorth,12.5\r\n'=cmd|x,-1.0\r\n"
    with pytest.raises(NotFound, match="none of the answers has a table"):
        await made("csv", WORDS)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Umsatz je Bücherregal?", "umsatz-je-bücherregal"),
        ("../../etc/passwd", "etc-passwd"),
        ("a\0b\r\nc", "a-b-c"),
        ("???", "query"),
        ("x" * 200, "x" * 60),
    ],
)
def test_names_are_never_paths(question: str, name: str) -> None:
    assert file_name(question, "query") == name
