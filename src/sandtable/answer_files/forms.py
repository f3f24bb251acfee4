"""The forms that answers can be exported in, and what each makes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from sandtable.answer_files.markdown import markdown_of
from sandtable.answer_files.notebook import notebook_of
from sandtable.answer_files.shown import Shown
from sandtable.answer_files.tables import file_name, tables_of
from sandtable.proof_page.make import Answer

Form = Literal["page", "markdown", "notebook", "csv"]
ENDINGS: dict[Form, str] = {"page": "html", "markdown": "md", "notebook": "ipynb", "csv": "zip"}
MEDIA_TYPES: dict[Form, str] = {
    "page": "text/html; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
    "notebook": "application/x-ipynb+json",
    "csv": "application/zip",
}
MakePage = Callable[[Sequence[Answer], str], Awaitable[str]]
"""Answers and a title to a page that proves itself."""


@dataclass(frozen=True, slots=True)
class AnswerFile:
    name: str
    media_type: str
    content: bytes


async def file_of(form: Form, shown: Sequence[Shown], title: str, make_page: MakePage) -> AnswerFile:
    """Raises NotFound where the answers have nothing for this form, InvalidInput where they are too large for it."""
    if form == "page":
        content = (await make_page([one.answer for one in shown], title)).encode()
    else:
        content = await asyncio.to_thread(_made, form, shown, title)
    return AnswerFile(f"{file_name(title, 'answers')}.{ENDINGS[form]}", MEDIA_TYPES[form], content)


def _made(form: Form, shown: Sequence[Shown], title: str) -> bytes:
    if form == "csv":
        return tables_of(shown)
    text = markdown_of(shown, title) if form == "markdown" else notebook_of(shown, title)
    return text.encode("utf-8", "replace")
