"""What an import shows when its files were read, or could not be."""

from __future__ import annotations

from typing import Any

from sandtable.catalog.own.datasets import Added
from sandtable.catalog.recipe import FileQuestion, Repair
from sandtable.errors import SandtableError
from sandtable.imports.model import Import, ImportedFile, TableMisfit

MOST_MISFITS = 100
_SHOWN_APART = ("questions", "repairs", "misfits")
"""Details of an InvalidInput about files: an import has fields for them."""


def ready(shown: Import, added: Added) -> Import:
    version = added.record.current
    findings = version.findings
    misfits = [
        TableMisfit(table=table, column=cell.column, row=cell.row, value=cell.value)
        for table, found in findings.items()
        for cell in found.misfits
    ]
    repairs = {repair.id: repair for found in findings.values() for repair in found.repairs}
    changes = version.changes.in_words if added.outcome == "changed" else ()
    same = ("The data are the same as before.",) if added.outcome == "unchanged" else ()
    copied = tuple(ImportedFile(name=s.name, bytes=s.bytes) for s in version.sources)
    return shown.model_copy(
        update={
            "state": "ready",
            "files": copied if shown.source else shown.files,
            "progress": None,
            "dataset_id": added.record.id,
            "version": version.dataset.version,
            "misfits": tuple(misfits[:MOST_MISFITS]),
            "repairs": tuple(repairs.values()),
            "notes": (*added.notes, *same, *(note for found in findings.values() for note in found.notes)),
            "changes": changes,
        }
    )


def asked_or_failed(shown: Import, error: SandtableError) -> Import:
    """`asks` where a question is open or a repair is offered."""
    details = error.details
    questions = tuple(FileQuestion.model_validate(each) for each in details.get("questions", ()))
    repairs = tuple(Repair.model_validate(each) for each in details.get("repairs", ()))
    table = str(details.get("table", ""))
    misfits = tuple(TableMisfit(table=table, **_cell(each)) for each in details.get("misfits", ()))
    problem = error.problem
    kept = {name: value for name, value in problem.details.items() if name not in _SHOWN_APART}
    return shown.model_copy(
        update={
            "state": "asks" if questions or repairs else "failed",
            "progress": None,
            "questions": questions,
            "repairs": repairs,
            "misfits": misfits[:MOST_MISFITS],
            "problem": None if questions else problem.model_copy(update={"details": kept}),
        }
    )


def _cell(misfit: dict[str, Any]) -> dict[str, Any]:
    return {name: misfit[name] for name in ("column", "row", "value")}
