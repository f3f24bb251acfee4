"""The source files of a declared dataset: from the registry's folder, or from its generator."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from sandtable.catalog.model import Dataset
from sandtable.errors import InvalidInput, RunnerBroken


@asynccontextmanager
async def originals(dataset: Dataset, folder: Path, scratch: Path) -> AsyncGenerator[dict[str, Path], None]:
    """The source file of each table: in `folder/<dataset>/`, in `folder/`, or generated into `scratch`."""
    found = {t.name: p for t in dataset.tables if (p := _find(folder, dataset.id, t.file))}
    missing = [t.file for t in dataset.tables if t.name not in found]
    if not missing:
        yield found
        return
    generator = folder / "generate"
    if not (generator / "__main__.py").is_file():
        raise InvalidInput(
            f"dataset {dataset.id}: {', '.join(missing)} not found in {folder / dataset.id} or {folder}",
            suggestion="Put the files there, beside registry.json.",
            dataset=dataset.id,
        )
    made = scratch / "generated"
    try:
        await _generate(generator, dataset.id, made)
        yield {t.name: made / dataset.id / t.file for t in dataset.tables}
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _find(folder: Path, dataset_id: str, file: str) -> Path | None:
    return next((p for p in (folder / dataset_id / file, folder / file) if p.is_file()), None)


async def _generate(generator: Path, dataset_id: str, out: Path) -> None:
    # -I: neither the user's environment nor the current folder may change what is generated; -B: the folder of an
    # installed package may be read-only.
    command = (sys.executable, "-I", "-B", str(generator), "--out", str(out), "--only", dataset_id)
    pipe, null = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(*command, stdin=null, stdout=null, stderr=pipe)
    except OSError as e:
        raise RunnerBroken(
            f"generating dataset {dataset_id} failed: cannot start {sys.executable}: {e}"
        ) from e
    try:
        _, complaint = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if process.returncode != 0:
        last = complaint.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise RunnerBroken(
            f"generating dataset {dataset_id} failed: {' '.join(last) or process.returncode}",
            suggestion="Check that the disk with SANDTABLE_HOME has space left, and try again.",
        )
