"""Text from elsewhere does nothing where it is shown, whatever it holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.quoting import LONGEST, in_markdown, inert, one_line, quote
from tests.hostile import FRAGMENTS, live_in

HOSTILE = pytest.mark.parametrize("fragment", FRAGMENTS.values(), ids=FRAGMENTS.keys())
TEXTS = (
    st.lists(
        st.sampled_from(
            [*FRAGMENTS.values(), "`", "``", "a", " ", "\n", "*", "_", "[", "](", "$", "|", "#", "1. ", "- "]
        )
    ).map("".join)
    | st.text()
)


@HOSTILE
def test_fragments_are_inert_alone_and_in_a_sentence(fragment: str) -> None:
    for made in (quote(fragment), inert(fragment), in_markdown(fragment)):
        assert live_in(made) == [], made
        assert live_in(f"No column {made}; did you mean {made}?") == [], made
        assert "\n" not in made


@HOSTILE
def test_a_message_that_was_put_together_carelessly_is_inert(fragment: str) -> None:
    for message in (f"no column `{fragment}` in `{fragment}`", f"{fragment} is not known", f"`{fragment}"):
        assert live_in(in_markdown(message)) == [], message


@given(TEXTS)
def test_no_text_is_live(text: str) -> None:
    for made in (quote(text), inert(text), in_markdown(text)):
        assert live_in(f"Said: {made}.") == []
        assert live_in(made) == []


@given(TEXTS, TEXTS)
def test_two_fragments_do_not_make_one(one: str, other: str) -> None:
    assert live_in(f"{quote(one)} and {quote(other)}") == []
    assert live_in(f"{inert(one)} and {inert(other)}") == []
    assert live_in(in_markdown(f"{one}`{other}")) == []


@given(st.text())
def test_a_quoted_fragment_is_bounded(text: str) -> None:
    assert len(quote(text)) <= max(LONGEST + 2, len("(empty)"))
    assert quote(text).count("`") in (0, 2)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("no column `regoin`; did you mean `region`?", "no column `regoin`; did you mean `region`?"),
        ("Could not convert '![x](y)' to INT32", "Could not convert `'![x](y)'` to INT32"),
        ("SELECT * FROM t", "SELECT `*` FROM t"),
        ("*two words* here", "`*two words*` here"),
        ("ask by page_1 or _id_", "ask by page_1 or `_id_`"),
        ("a lone ` stays", "a lone ' stays"),
        ("# one", "`#` one"),
        ("line one\nline two", "line one line two"),
        ("", ""),
    ],
)
def test_ordinary_messages_stay_as_they_are(text: str, made: str) -> None:
    assert in_markdown(text) == made


def test_a_long_line_is_cut() -> None:
    assert one_line("word " * 100, 20) == "word word word word…"
