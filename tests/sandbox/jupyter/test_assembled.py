"""`SANDTABLE_SESSION=jupyter`: a conversation's cells run in a kernel, with the same records as elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.assemble import assemble
from sandtable.capsule.query import CodeQuery
from sandtable.errors import SandboxUnavailable
from sandtable.runs.model import RunRequest
from sandtable.sandbox.local import kernels
from sandtable.sandbox.local.jupyter_session import JupyterSession
from sandtable.settings import Settings


@pytest.mark.needs("userns")
async def test_cells_of_a_conversation_share_a_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[JupyterSession] = []
    begin = JupyterSession.__init__

    def noted(self: JupyterSession, *given: object) -> None:
        opened.append(self)
        begin(self, *given)  # pyright: ignore[reportArgumentType] - passed on as it came

    monkeypatch.setattr(JupyterSession, "__init__", noted)
    prices = tmp_path / "prices.csv"
    prices.write_text("item,price\napple,3\npear,4\n")
    async with assemble(Settings(home=tmp_path / "home", session="jupyter")) as parts:
        dataset = await parts.datasets.add_files((prices,))
        shown: list[str] = []
        for code in ("total = int(df['price'].sum())", "print(total * 2)"):
            request = RunRequest(dataset_id=dataset.id, query=CodeQuery(code, session="talk"))
            run = await parts.runs.wait((await parts.runs.submit(request)).id)
            assert run.status == "succeeded", run.error
            shown.append(run.stdout)
    assert shown == ["", "14\n"]
    assert len(opened) == 1
    assert not opened[0].alive
    assert not opened[0]._kernel.folder.exists()


async def test_without_the_extra_the_server_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "find_spec", lambda name: None)
    with pytest.raises(SandboxUnavailable, match="not installed"):
        async with assemble(Settings(home=tmp_path, session="jupyter")):
            pass
