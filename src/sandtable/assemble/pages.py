"""Pages that prove themselves, made and verified with the parts of a command or server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path

from sandtable.answer_files.shown import Shown
from sandtable.answer_files.thread import ThreadAnswer
from sandtable.assemble import Parts
from sandtable.capsule.keys import trusted_keys
from sandtable.capsule.report import VerifyReport
from sandtable.capsule.seal import Envelope
from sandtable.errors import InvalidInput, NotFound
from sandtable.proof_page.make import Answer, answer_of_run, columns_of, make_page
from sandtable.proof_page.page import MOST_CAPSULES
from sandtable.proof_page.verify import PageReport, verify_page
from sandtable.runs.as_asked import dataset_as_asked
from sandtable.runs.model import Run


async def verified_page(parts: Parts, text: str, keys: Iterable[Path] = ()) -> PageReport:
    """`keys`: further public keys to trust."""
    extra = tuple(keys)
    trusted = await asyncio.to_thread(trusted_keys, parts.settings.home, extra, parts.key)

    async def verify(envelope: Envelope) -> VerifyReport:
        return await parts.verify(envelope, extra)

    return await verify_page(text, trusted, verify, parts.datasets.version)


async def run_and_answer(parts: Parts, run_id: str) -> tuple[Run, Answer]:
    """A run that has ended, and its answer in words that follow from it. Raises NotFound."""
    run = await parts.runs.get(run_id)
    capsule = await parts.runs.capsule(run_id)
    return run, answer_of_run(run, capsule, await dataset_as_asked(parts.datasets, run))


async def shown_in_thread(parts: Parts, answers: Sequence[ThreadAnswer]) -> list[Shown]:
    """With the runs that are kept and may be seen. Raises InvalidInput for more than an export holds."""
    if len(answers) > MOST_CAPSULES:
        raise InvalidInput(
            f"the conversation has {len(answers):,} answers, and an export at most {MOST_CAPSULES}",
            suggestion="Export its runs one by one.",
        )
    return [await _shown(parts, one) for one in answers]


async def _shown(parts: Parts, said: ThreadAnswer) -> Shown:
    kept: list[tuple[Run, Envelope]] = []
    missing = 0
    for run_id in said.run_ids:
        try:
            kept.append((await parts.runs.get(run_id), await parts.runs.capsule(run_id)))
        except NotFound:
            missing += 1
    main = kept[0][0] if kept and kept[0][0].id == said.run_ids[0] else None
    columns = columns_of(main, await dataset_as_asked(parts.datasets, main)) if main is not None else ()
    answer = Answer(
        question=(main.request.question if main is not None else "") or said.question,
        sentence=said.sentence,
        reading=said.reading,
        note=_MISSING.format(missing, len(said.run_ids)) if missing else "",
        columns=columns,
        capsules=tuple(envelope for _, envelope in kept) if main is not None else (),
    )
    return Shown(answer, main)


_MISSING = "Of the runs that this answer rests on, {} of {} are not kept any more, so that it cannot be verified whole."


async def page_of_answers(parts: Parts, answers: Sequence[Answer], title: str) -> str:
    """Raises InvalidInput for more than a page holds, NotFound for no answer."""
    if not answers:
        raise NotFound("there is no answer to make a page of", suggestion="Ask something first.")
    trusted = await asyncio.to_thread(trusted_keys, parts.settings.home, (), parts.key)
    return await asyncio.to_thread(make_page, answers, title, parts.key, trusted)
