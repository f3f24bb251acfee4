"""The REST adapter: datasets, runs, checks, capsules and their verification."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query, Request, Response

from sandtable.assemble import Parts
from sandtable.capsule.keys import public_pem
from sandtable.capsule.query import CodeQuery, plan_of
from sandtable.capsule.report import VerifyReport
from sandtable.capsule.seal import PAYLOAD_TYPE
from sandtable.capsule.trust import Mark, marks_of
from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.errors import SandtableError
from sandtable.plan.schema import plan_schema
from sandtable.runs.as_asked import dataset_as_asked
from sandtable.runs.fair_queue import FairQueue
from sandtable.runs.fixes import fixes_for, with_fixes
from sandtable.runs.ids import RUN_ID
from sandtable.runs.model import Run, check_names
from sandtable.server import charts, explaining, exports, logs, views
from sandtable.server.callers import User
from sandtable.server.dataset_summaries import DatasetSummary
from sandtable.server.errors import ErrorBody
from sandtable.server.hanging_up import while_there
from sandtable.server.samples import Samples
from sandtable.server.shutdown import Shutdown
from sandtable.store.run_store import Status

MOST_WAIT_S = 60.0

_NOT_FOUND: dict[int | str, dict[str, Any]] = {404: {"model": ErrorBody, "description": "No such thing."}}
_FILE_NAME: dict[str, Any] = {
    "Content-Disposition": {
        "description": "The name of the file.",
        "schema": {"type": "string", "pattern": "^attachment; filename="},
    }
}
_LOCATION: dict[str, Any] = {
    "Location": {
        "description": "Where the run is.",
        "schema": {"type": "string", "pattern": f"^/runs/{RUN_ID}$"},
    }
}
_QUOTA_FULL: dict[int | str, dict[str, Any]] = {
    507: {"model": ErrorBody, "description": "The user has as much stored as one user may have."}
}

router = APIRouter()
router.include_router(exports.router)
router.include_router(charts.router)
router.include_router(explaining.router)

DatasetId = Annotated[str, Path(max_length=128, examples=["ecommerce"])]
RunId = Annotated[str, Path(max_length=128, examples=["run_019a83f0c1d2000000a1b2c3d4e5f607"])]
Wait = Annotated[
    float, Query(ge=0, le=MOST_WAIT_S, description="Seconds to wait for the run's end before answering.")
]


def _parts(request: Request) -> Parts:
    return request.app.state.parts


async def _view(request: Request, run: Run, user: str) -> views.RunView:
    """The run with its marks of trust, the units of its columns and its fixes. Fixes refer to the dataset as it is now;
    there are none if it is missing or broken, or if the user has too many checks under way."""
    parts, checks = _parts(request), _checks(request)
    queried = await _queried(parts, run)
    trust = _trust(run, queried)
    if run.status not in ("rejected", "failed"):
        return views.RunView.of(run, trust=trust, dataset=queried)
    try:
        dataset = await parts.datasets.ready(run.request.dataset_id)
        async with checks.place(user):
            fixes = await fixes_for(parts.check, dataset, run, parts.rules_of(dataset))
    except SandtableError:
        return views.RunView.of(run, trust=trust)
    return views.RunView.of(run, fixes, trust)


async def _queried(parts: Parts, run: Run) -> Dataset | None:
    """The dataset version that was queried; None if it is gone, or if nothing that is shown depends on it."""
    asked = run.request
    if plan_of(asked.query) is None and (not asked.question or asked.origin is None):
        return None
    return await dataset_as_asked(parts.datasets, run)


def _trust(run: Run, dataset: Dataset | None) -> tuple[Mark, ...]:
    """The marks that `verify` derives from the run's capsule; none if the dataset version is gone."""
    asked = run.request
    if not asked.question or dataset is None:
        return ()
    return marks_of(plan_of(asked.query), dataset, asked.origin.proposer if asked.origin else None)


async def _waited(request: Request, run_id: str, seconds: float) -> Run:
    """The run as it is when it ends, after so many seconds, or when the server stops."""
    shutdown: Shutdown = request.app.state.shutdown
    runs = _parts(request).runs
    return await shutdown.or_begun(runs.wait(run_id, seconds)) or await runs.get(run_id)


def _checks(request: Request) -> FairQueue:
    return request.app.state.checks


@router.get("/datasets", operation_id="list_datasets", tags=["datasets"], summary="What may be asked about")
async def list_datasets(request: Request) -> list[DatasetSummary]:
    """Those that people added come first, the newest at the top."""
    datasets = _parts(request).datasets
    own = {record.id: record for record in await asyncio.to_thread(datasets.own.list)}
    added = {dataset_id: record.added_at for dataset_id, record in own.items()}
    every = sorted(datasets.datasets(), key=lambda dataset: added.get(dataset.id, ""), reverse=True)
    return [DatasetSummary.of(each, own.get(each.id)) for each in every]


@router.get(
    "/datasets/{dataset_id}",
    operation_id="get_dataset",
    tags=["datasets"],
    summary="One dataset, whole",
    responses=_NOT_FOUND,
)
async def get_dataset(request: Request, dataset_id: DatasetId) -> Dataset:
    logs.bind(dataset_id=dataset_id)
    return _parts(request).datasets.get(dataset_id)


@router.get(
    "/datasets/{dataset_id}/schema",
    operation_id="get_schema",
    tags=["datasets"],
    summary="Tables, columns, relationships, metrics and sample rows",
    responses=_NOT_FOUND | _QUOTA_FULL,
)
async def get_schema(request: Request, dataset_id: DatasetId, user: User) -> views.DatasetSchema:
    """The sample rows come from a run through the gate and the sandbox, like any other."""
    logs.bind(dataset_id=dataset_id)
    dataset = await _parts(request).datasets.ready(dataset_id)
    samples: Samples = request.app.state.samples
    taken = await samples.of(dataset, user)
    return views.DatasetSchema(
        dataset_id=dataset.id,
        version=dataset.version,
        catalog_version=dataset.catalog_version,
        as_of=dataset.as_of,
        tables=tuple(map(views.TableSchema.of, dataset.tables, taken)),
        relationships=dataset.relationships,
        metrics=dataset.metrics,
    )


@router.get(
    "/datasets/{dataset_id}/profile",
    operation_id="get_profile",
    tags=["datasets"],
    summary="What the columns hold: counts, ranges, frequent values, histograms",
    responses=_NOT_FOUND,
)
async def get_profile(request: Request, dataset_id: DatasetId) -> Profile:
    """Made in a sandbox, once for each version of the data."""
    logs.bind(dataset_id=dataset_id)
    datasets = _parts(request).datasets
    return await datasets.profile(await datasets.ready(dataset_id))


@router.get("/plan/schema", operation_id="get_plan_schema", tags=["datasets"], summary="The plan language")
async def get_plan_schema() -> dict[str, Any]:
    """JSON Schema of a query plan."""
    return plan_schema()


_RUN_EXAMPLES: dict[str, Any] = {
    "plan": {"summary": "A plan", "value": {"dataset_id": "ecommerce", "plan": views.PLAN_EXAMPLE}},
    "sql": {"summary": "SQL", "value": {"dataset_id": "ecommerce", "sql": views.SQL_EXAMPLE}},
    "python": {"summary": "Python", "value": {"dataset_id": "ecommerce", "python": views.PYTHON_EXAMPLE}},
    "dry_run": {
        "summary": "Bind and explain only",
        "value": {"dataset_id": "ecommerce", "sql": views.SQL_EXAMPLE, "mode": "dry_run"},
    },
    "refused": {
        "summary": "What the gate refuses",
        "value": {"dataset_id": "ecommerce", "sql": "SELECT * FROM read_csv('/etc/passwd')"},
    },
}


@router.post(
    "/runs",
    operation_id="submit_run",
    tags=["runs"],
    summary="Run a plan, SQL or Python",
    responses=_NOT_FOUND
    | _QUOTA_FULL
    | {
        200: {"description": "The run has ended.", "headers": _LOCATION},
        202: {
            "model": views.RunView,
            "description": "Accepted; `Location` is where to look.",
            "headers": _LOCATION,
        },
    },
)
async def submit_run(
    request: Request,
    response: Response,
    user: User,
    body: Annotated[views.RunBody, Body(openapi_examples=_RUN_EXAMPLES)],
    wait: Wait = 0.0,
) -> views.RunView:
    """Accepted runs are on disk. A run that the gate refuses is a run too: `rejected`, with its capsule."""
    runs = _parts(request).runs
    logs.bind(dataset_id=body.dataset_id)
    run = await runs.submit(body.request(user))
    logs.bind(run_id=run.id)
    if wait:
        run = await _waited(request, run.id, wait)
    response.headers["Location"] = f"/runs/{run.id}"
    response.status_code = 200 if run.ended else 202
    return await _view(request, run, user)


@router.get("/runs", operation_id="list_runs", tags=["runs"], summary="Runs, newest first")
async def list_runs(
    request: Request,
    status: Status | None = None,
    dataset_id: Annotated[str | None, Query(max_length=128)] = None,
    user: Annotated[str | None, Query(max_length=128)] = None,
    text: Annotated[
        str | None, Query(max_length=500, description="In the question, plan, SQL or Python.")
    ] = None,
    before: Annotated[
        str | None,
        Query(
            max_length=128,
            description="`next` of the page before.",
            json_schema_extra={"pattern": f"^{RUN_ID}$"},
        ),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> views.RunPage:
    found = await _parts(request).runs.list(status, dataset_id, text, user, limit + 1, before)
    page = found[:limit]
    return views.RunPage(
        runs=tuple(map(views.RunView.of, page)), next=page[-1].id if len(found) > limit else None
    )


@router.get(
    "/runs/{run_id}",
    operation_id="get_run",
    tags=["runs"],
    summary="How far a run has come, and its result",
    responses=_NOT_FOUND,
)
async def get_run(request: Request, run_id: RunId, user: User, wait: Wait = 0.0) -> views.RunView:
    logs.bind(run_id=run_id)
    runs = _parts(request).runs
    run: Run = await (_waited(request, run_id, wait) if wait else runs.get(run_id))
    return await _view(request, run, user)


@router.post(
    "/runs/{run_id}/cancel",
    operation_id="cancel_run",
    tags=["runs"],
    summary="Stop a run",
    responses=_NOT_FOUND,
)
async def cancel_run(request: Request, run_id: RunId) -> views.RunView:
    """A run that has ended stays as it is."""
    logs.bind(run_id=run_id)
    parts = _parts(request)
    run = await parts.runs.cancel(run_id)
    return views.RunView.of(run, dataset=await _queried(parts, run))


_CHECK_EXAMPLES: dict[str, Any] = {name: _RUN_EXAMPLES[name] for name in ("plan", "sql", "refused")}


@router.post(
    "/check",
    operation_id="check",
    tags=["runs"],
    summary="What the gate says, without running",
    responses=_NOT_FOUND,
)
async def check(
    request: Request, user: User, body: Annotated[views.CheckBody, Body(openapi_examples=_CHECK_EXAMPLES)]
) -> views.VerdictView:
    logs.bind(dataset_id=body.dataset_id)
    parts = _parts(request)
    query = body.query
    if isinstance(query, CodeQuery):
        check_names(query.names)
    dataset = await parts.datasets.ready(body.dataset_id)

    async def checked() -> views.VerdictView:
        async with _checks(request).place(user):
            verdict = await parts.check(dataset, query)
            fixed = await with_fixes(parts.check, dataset, verdict, query, parts.rules_of(dataset))
            return views.VerdictView.of(fixed, of_code=isinstance(query, CodeQuery))

    return await while_there(request, checked())


@router.get(
    "/runs/{run_id}/capsule",
    operation_id="get_capsule",
    tags=["capsules"],
    summary="The signed capsule of a run that has ended",
    responses=_NOT_FOUND | {200: {"description": "The capsule, as a file.", "headers": _FILE_NAME}},
)
async def get_capsule(request: Request, response: Response, run_id: RunId) -> dict[str, Any]:
    """A DSSE envelope; `sandtable verify` and POST /verify take it as it is."""
    logs.bind(run_id=run_id)
    envelope = await _parts(request).runs.capsule(run_id)
    response.headers["Content-Disposition"] = f'attachment; filename="{run_id}.capsule.json"'
    return envelope


@router.post(
    "/runs/{run_id}/verify",
    operation_id="verify_run",
    tags=["capsules"],
    summary="Derive a stored capsule again",
    responses=_NOT_FOUND,
)
async def verify_run(request: Request, run_id: RunId, user: User) -> VerifyReport:
    """Verifications wait in a queue of their own, and end when their client hangs up."""
    logs.bind(run_id=run_id)
    parts = _parts(request)
    return await while_there(request, parts.verify(await parts.runs.capsule(run_id), user=user))


_ENVELOPE_EXAMPLE: dict[str, Any] = {
    "payloadType": PAYLOAD_TYPE,
    "payload": "eyJfdHlwZSI6Imh0dHBzOi8vaW4tdG90by5pby9TdGF0ZW1lbnQvdjEi…",
    "signatures": [{"keyid": "9f3c…", "sig": "Qm9n…"}],
}


_ENVELOPE: dict[str, Any] = {
    "required": True,
    "description": "A DSSE envelope, or what `sandtable run --json` printed.",
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "additionalProperties": True,
                "title": "Envelope",
                "examples": [_ENVELOPE_EXAMPLE],
            }
        }
    },
}


@router.post(
    "/verify",
    operation_id="verify",
    tags=["capsules"],
    summary="Derive a capsule again",
    openapi_extra={"requestBody": _ENVELOPE},
)
async def verify(request: Request, user: User) -> VerifyReport:
    """Checks the signature; if a trusted key made it, compiles, judges and runs again, and names the link that is
    broken. Verifications wait in a queue of their own, and end when their client hangs up."""
    # Not a route parameter: FastAPI would parse it on the event loop.
    body = await request.body()
    return await while_there(request, _parts(request).verify(body, user=user))


@router.get("/keys", operation_id="list_keys", tags=["capsules"], summary="Who signs capsules here")
async def list_keys(request: Request) -> views.Keys:
    """With this public key, `sandtable verify --key` checks this server's capsules anywhere."""
    key = _parts(request).key
    pem = public_pem(key.private.public_key()).decode("ascii")
    return views.Keys(keys=(views.PublicKey(keyid=key.keyid, pem=pem),))
