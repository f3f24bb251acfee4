"""The example of docs/agui.md: a server as it is started, with the built-in planner and the real sandbox."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import httpx
import pytest

from scripts.node import find_node
from tests.server.agui.driving import NPM, driver
from tests.server.test_killed_server import serving

PAGE = Path(__file__).resolve().parents[3] / "docs" / "agui.md"


@pytest.mark.needs("userns", "agui_client")
async def test_ask_and_follow_up(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, url):
        async with driver() as client:
            address = f"{url}/agui?dataset=ecommerce"
            first = await client.run(address, ("q1", "Monthly revenue in 2025"))
            assert first.failure is None and first.result["ending"] == "answered"
            assert len(first.shown("table")[0]["rows"]) == 12
            assert first.shown("chart")[0]["figure"]["data"][0]["type"] == "scatter"
            second = await client.run(address, ("q2", "now only for Germany"))
            assert second.failure is None and "Germany" in second.answer["sql"]
            assert len(second.shown("table")) == 2
        await _tried(url, tmp_path)
        capsule = httpx.get(f"{url}/runs/{second.result['run_ids'][0]}/capsule", timeout=60)
        verified = httpx.post(
            f"{url}/verify", content=capsule.content, headers={"content-type": "application/json"}, timeout=60
        )
        assert verified.json()["ok"], verified.text


async def _tried(url: str, folder: Path) -> None:
    """Runs the example as it stands on the page, but for the address."""
    found = re.search(r"```js\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    (folder / "node_modules").symlink_to(NPM / "node_modules")
    program = folder / "example.mjs"
    program.write_text(found[1].replace("http://localhost:8000", url), encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        str(find_node()), str(program), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    said, trouble = await process.communicate()
    assert process.returncode == 0, trouble.decode()
    lines = said.decode().splitlines()
    assert lines[0].startswith("[sandtable.plan]") and lines[-1].startswith("proof: http")
    assert sum("[sandtable.chart]" in line for line in lines) == 2
