"""`sandtable ask`: one question in plain language, one answer."""

from __future__ import annotations

import click

from sandtable.cli import inputs

_MOST_STDIN = 1 << 20


@click.command("ask")
@click.argument("question", metavar="QUESTION|-")
@inputs.dataset_options
@inputs.json_option
def command(question: str, about: inputs.About, as_json: bool) -> int:
    """Ask a question in plain language.

    Prints the answer, its table, a chart where one fits, how the question was read, and the run's id; with
    --json one object: {"status", "answer_text", "reading", "read_as", "columns", "rows", "row_count", "truncated",
    "plan", "sql", "run_id", "chart", "suggestions", "choices", "error", "others"}. `-` reads the question from
    stdin. Several questions in one message get an answer each; with --json the first one has the rest as "others".

    Exit code: 0 answered, 1 failed, 2 the input cannot be used, 3 refused, 4 not understood: it asks back and
    says what it could answer (or, as ever, there is no sandbox).
    """
    inputs.require_dataset(about)
    asked = inputs.read_text("-", _MOST_STDIN) if question == "-" else question
    from sandtable.cli.one_question import answer  # loads what runs and plans, which a mistake does without

    return answer(asked, about, as_json)
