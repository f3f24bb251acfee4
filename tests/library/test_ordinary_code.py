"""Ordinary analysis of the built-in datasets, the whole way: judged by the real gate, run in the real sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from sandtable.assemble import Parts, assemble
from sandtable.capsule.query import CodeQuery
from sandtable.runs.model import RunRequest
from sandtable.settings import Settings
from tests.policy.python.corpora import Ordinary, ordinary

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def parts(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Parts]:
    home: Path = tmp_path_factory.mktemp("home")
    async with assemble(Settings(home=home)) as made:
        yield made


@pytest.mark.parametrize("case", ordinary())
async def test_ordinary_code_is_approved_and_runs(parts: Parts, case: Ordinary) -> None:
    request = RunRequest(dataset_id=case.dataset, query=CodeQuery(case.code))
    accepted = await parts.runs.submit(request)
    run = await parts.runs.wait(accepted.id)
    assert run.status == "succeeded", (run.error, run.stderr)
    assert run.stdout or run.artifacts, "nothing came of it"
    assert "Traceback" not in run.stderr
