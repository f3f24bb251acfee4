"""The page as text: one file that loads nothing, whose content cannot end its block."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from sandtable.capsule.canonical import canonical
from sandtable.capsule.digests import digests_of
from sandtable.errors import InvalidInput
from sandtable.proof_page import page as pages
from sandtable.proof_page.page import NotAPage, frame, parted, program
from sandtable.proof_page.said import Unsigned, opened, payload_digest
from tests.capsule.samples import KEY, capsule, charted
from tests.proof_page.samples import answer_with, content_of, page, replaced, with_content

TRUSTED = {KEY.keyid: KEY.private.public_key()}
HOSTILE = "</script><script>document.title='run'</script><img src=x onerror=alert(1)> ]]> <!--"


def test_everything_is_in_the_file_and_the_policy_names_only_it() -> None:
    text = page()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    script = re.search(r"<script>(.*)</script>\n</body>", text, re.DOTALL)
    style = re.search(r"<style>(.*)</style>", text, re.DOTALL)
    assert policy is not None and script is not None and style is not None
    parts = policy[1].split("; ")
    assert parts[0] == "default-src 'none'"
    for name, inline in (("script", script[1]), ("style", style[1])):
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in parts
    assert re.search(r'(?:src|href)="', text) is None


def test_hostile_words_are_nowhere_in_the_file_as_text() -> None:
    answer = answer_with(
        capsule(question=HOSTILE), sentence=HOSTILE, question=HOSTILE, reading=HOSTILE, columns=()
    )
    text = page(answer, title=HOSTILE)
    assert "onerror" not in text and text.count("</script>") == 2


def test_the_content_comes_back_with_the_digest_of_the_frame() -> None:
    text = page()
    content, found = parted(text)
    assert found == program()
    said = opened(content.statement, TRUSTED)
    assert said.program == found and said.title == "Totals"
    assert [payload_digest(one) for one in content.capsules] == list(said.answers[0].capsules)


@pytest.mark.parametrize("part", frame(), ids=["before", "after"])
def test_a_changed_program_has_another_digest(part: str) -> None:
    text = page().replace(part, part.replace("a", "b", 1), 1)
    try:
        found = parted(text)[1]
    except NotAPage:
        return
    assert found != program()


def test_changed_words_are_unsigned() -> None:
    text = with_content(page(), lambda content: replaced(content["statement"], "12.5", "13.5"))
    with pytest.raises(Unsigned, match="signature does not fit"):
        opened(parted(text)[0].statement, TRUSTED)
    with pytest.raises(Unsigned, match="no trusted key"):
        opened(parted(page())[0].statement, {})


def test_a_capsule_is_no_statement_of_a_page() -> None:
    envelope = content_of(page())["capsules"][0]
    with pytest.raises(InvalidInput, match="not that of a page"):
        opened(envelope, TRUSTED)


@pytest.mark.parametrize(
    "text",
    [
        "<!doctype html><p>hello</p>",
        '<script type="application/json" id="content">{</script>',
        '<script type="application/json" id="content">[]</script>',
        '<script type="application/json" id="content">{"format":"sandtable.page/2"}</script>',
        '<script type="application/json" id="content">'
        '{"format":"sandtable.page/1","capsules":[1],"statement":{}}</script>',
    ],
)
def test_other_files_are_no_pages(text: str) -> None:
    with pytest.raises(NotAPage) as caught:
        parted(text)
    assert caught.value.suggestion


def test_a_page_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [answer_with(charted())] * 3
    monkeypatch.setattr(pages, "MOST_CAPSULES", 2)
    with pytest.raises(InvalidInput, match="at most 2 capsules"):
        page(*answers)
    monkeypatch.setattr(pages, "MOST_CAPSULES", 200)
    monkeypatch.setattr(pages, "PAGE_BYTES", 1000)
    with pytest.raises(InvalidInput, match="more than 1,000"):
        page(*answers)


def test_the_program_has_a_table_for_every_format() -> None:
    script = frame()[1]
    listed = re.search(r"const FORMATS = \{ (.*) \};", script)
    assert listed is not None
    newest = capsule()
    assert newest.schema_version in re.findall(r"(\d+): V\d+", listed[1])
    for name in digests_of(newest.model_dump(mode="json")):
        assert re.search(rf"^  {name}: \[", script, re.MULTILINE), f"words.js says nothing about {name}"


def test_content_is_canonical() -> None:
    text = page()
    assert canonical(content_of(text)).decode() in text
