"""An answer and the run that its table comes from."""

from __future__ import annotations

from dataclasses import dataclass

from sandtable.capsule.query import CodeQuery
from sandtable.capsule.seal import read_statement, unpack
from sandtable.proof_page.make import Answer
from sandtable.runs.model import Run


@dataclass(frozen=True, slots=True)
class Shown:
    answer: Answer
    run: Run | None = None
    """None for words alone, such as a question back."""

    @property
    def has_table(self) -> bool:
        run = self.run
        return run is not None and run.status == "succeeded" and bool(run.columns) and run.rows is not None

    @property
    def before(self) -> tuple[str, ...]:
        """The code that had run before in the same session, on whose variables the run's code may depend."""
        if self.run is None or not isinstance(self.run.request.query, CodeQuery):
            return ()
        if not self.answer.capsules:
            return ()
        fields = read_statement(unpack(self.answer.capsules[0])[0])["predicate"]
        return tuple(cell["python"] for cell in fields.get("before") or () if not cell["interrupted"])

    @property
    def statement(self) -> tuple[str, str] | None:
        """What ran, and its language."""
        if self.run is None:
            return None
        query = self.run.request.query
        if isinstance(query, CodeQuery):
            return query.code, "python"
        text = self.run.executed_sql or self.run.sql
        return (text, "sql") if text else None
