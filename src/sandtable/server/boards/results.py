"""What the tiles of a board show: stored runs, in words and as charts. Nothing is executed here."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from sandtable.assemble import Parts
from sandtable.boards.filtering import NotApplied, filtered, not_planned
from sandtable.boards.model import Board, Condition, KeptQuestion, Tile, TileRun, digest_of
from sandtable.catalog.model import Dataset
from sandtable.errors import NotFound, SandtableError
from sandtable.runs.as_asked import dataset_as_asked
from sandtable.runs.draw import draw_each_kind
from sandtable.runs.model import Run
from sandtable.server.access.boards import SeenBoards
from sandtable.server.boards import views
from sandtable.server.views import RunView
from sandtable.wording import answer_of

MOST_ROWS = 50
_LANGUAGES = {"sql": "SQL", "python": "Python"}


async def results_of(parts: Parts, boards: SeenBoards, board: Board) -> tuple[views.TileResult, ...]:
    questions, runs = await boards.questions_on(board), await boards.tile_runs(board)
    made: list[views.TileResult] = []
    for tile in board.layout.tiles:
        if tile.question_id is None:
            continue
        question = questions.get(tile.question_id)
        if question is None:
            made.append(_nothing(tile.id, "question"))
        else:
            made.append(await _kept(parts, board, tile, question, runs.get(tile.id)))
    return tuple(made)


async def _kept(
    parts: Parts, board: Board, tile: Tile, question: KeptQuestion, known: TileRun | None
) -> views.TileResult:
    """What the tile shows, of the runs that there are."""
    filters = board.layout.filters
    left: tuple[NotApplied, ...] = ()
    run_id = question.latest_run
    if filters:
        left = await _left(parts, question, filters)
        fits = known is not None and known.filters == digest_of(filters)
        if known is not None and fits and known.question_id == question.id:
            run_id = known.run_id
        elif len(left) < len(filters):
            return _nothing(tile.id, "filters", left)
    try:
        run = await parts.runs.get(run_id)
    except NotFound:
        return _nothing(tile.id, "run", left)
    return await shown(parts, tile.id, question, run, left)


async def shown(
    parts: Parts, tile_id: str, question: KeptQuestion, run: Run, left: Sequence[NotApplied]
) -> views.TileResult:
    """The run as the tile shows it."""
    dataset = await dataset_as_asked(parts.datasets, run)
    sentence, chart = await asyncio.to_thread(_told, question, run, dataset)
    rows = None if run.rows is None else run.rows[:MOST_ROWS]
    view = RunView.of(run.model_copy(update={"rows": rows, "chart": chart}), dataset=dataset)
    return views.TileResult(
        tile_id=tile_id,
        run=view,
        sentence=sentence,
        not_filtered=tuple(map(views.NotFilteredView.of, left)),
        newer_data=_has_newer(parts, run),
        missing="",
    )


def narrowed(
    question: KeptQuestion, filters: Sequence[Condition], dataset: Dataset
) -> tuple[dict[str, object], tuple[NotApplied, ...]]:
    """The fields of the question's query with the filters, and the filters that do not apply."""
    if question.plan is not None:
        plan, left = filtered(question.plan, filters, dataset)
        return {**question.fields, "plan": plan}, left
    kind = next(name for name in _LANGUAGES if question.fields.get(name) is not None)
    return dict(question.fields), not_planned(filters, _LANGUAGES[kind])


async def _left(parts: Parts, question: KeptQuestion, filters: Sequence[Condition]) -> tuple[NotApplied, ...]:
    """By the dataset as it is now, or for those who may not ask about it, as the kept run read it."""
    try:
        dataset = await parts.datasets.ready(question.dataset_id)
    except SandtableError:
        dataset = await _of_runs(parts, question)
    if dataset is None:
        reason = f"the dataset {question.dataset_id} is not there"
        return tuple(NotApplied(each.column, reason) for each in filters)
    return (await asyncio.to_thread(narrowed, question, filters, dataset))[1]


async def _of_runs(parts: Parts, question: KeptQuestion) -> Dataset | None:
    for run_id in (question.latest_run, question.kept_run):
        try:
            return await dataset_as_asked(parts.datasets, await parts.runs.get(run_id))
        except SandtableError:
            continue
    return None


def _told(question: KeptQuestion, run: Run, dataset: Dataset | None) -> tuple[str, dict[str, object] | None]:
    if run.rows is None:
        return "", run.chart
    wished = None if question.chart is None else draw_each_kind(run, dataset).get(question.chart)
    if dataset is None or run.artifacts:
        return "", wished or run.chart
    columns = [(column.name, column.type) for column in run.columns]
    sentence = answer_of(
        question.question,
        question.plan and run.request.model_dump()["plan"],
        columns,
        run.rows,
        dataset,
        truncated=run.truncated,
        row_count=run.row_count,
    )
    return sentence, wished or run.chart


def _has_newer(parts: Parts, run: Run) -> bool:
    try:
        return parts.datasets.get(run.request.dataset_id).version != run.dataset_version
    except SandtableError:
        # The dataset is gone, or not shared: nothing newer can be read.
        return False


def _nothing(tile_id: str, missing: str, left: Sequence[NotApplied] = ()) -> views.TileResult:
    return views.TileResult.model_validate({
        "tile_id": tile_id, "run": None, "sentence": "", "newer_data": False, "missing": missing,
        "not_filtered": tuple(map(views.NotFilteredView.of, left)),
    })  # fmt: skip
