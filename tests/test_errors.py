"""What a person reads when only one text is shown."""

from __future__ import annotations

import pytest

from sandtable.errors import ErrorCode, InvalidInput, Problem, folders_named

_CASES = {
    "sentences": ("It took too long.", "Ask for less.", "It took too long. Ask for less."),
    "a stop is added": ("it took too long", "Ask for less.", "it took too long. Ask for less."),
    "parts of one sentence": ("it took too long", "ask for less", "it took too long; ask for less"),
    "a stop becomes a part": ("It took too long.", "ask for less", "It took too long; ask for less"),
    "a question": ("Which year?", "name one", "Which year? name one"),
    "code": ("no sandbox", "`sandtable doctor` tells why", "no sandbox. `sandtable doctor` tells why"),
    "nothing to do": ("it took too long", "", "it took too long"),
    "nothing said": ("", "ask for less", "ask for less"),
}


@pytest.mark.parametrize(("message", "suggestion", "text"), _CASES.values(), ids=_CASES.keys())
def test_message_and_suggestion_in_one_text(message: str, suggestion: str, text: str) -> None:
    problem = Problem(code=ErrorCode.VALIDATION_ERROR, message=message, suggestion=suggestion)
    assert problem.in_words == text


def test_a_server_names_its_folders_in_other_words() -> None:
    error = InvalidInput(
        "no file in /srv/here/data", suggestion="Look at /srv/here.", files=["/srv/here/data/x"], count=2
    )
    with folders_named({"/srv/here": "HOME", "/srv/here/data": "DATA"}):
        shown = error.problem
    assert (shown.message, shown.suggestion) == ("no file in DATA", "Look at HOME.")
    assert shown.details == {"files": ["DATA/x"], "count": 2}
    assert error.problem.message == error.message, "one's own terminal shows the folder"
