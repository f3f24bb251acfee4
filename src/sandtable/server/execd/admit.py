"""Which jobs this service accepts, and whether their data is present and intact.

Invariant: an admitted job names nothing outside the folder of its dataset version, and stays within the limits of
this process. It runs on files that match the recorded digests beside them.
"""

from __future__ import annotations

import asyncio
import re
from itertools import islice
from pathlib import Path

from sandtable.catalog.stored.integrity import Damage, Integrity, Whole, damaged
from sandtable.catalog.stored.store import BAIT
from sandtable.catalog.stored.version_files import DIGESTS
from sandtable.errors import InvalidInput
from sandtable.quoting import quote
from sandtable.sandbox.job import Job, JobResult, Mode
from sandtable.sandbox.outcome import failed

SERVED: tuple[Mode, ...] = ("sql", "dry_run", "fetch_schema", "python", "parse", "profile", "probe")
LONGEST_MS = 3_600_000
LARGEST_RESULT = 64 << 20
MOST_LISTED = 1000

_ID = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
_VERSION = re.compile(r"sha256:([0-9a-f]{64})")
_FILE = re.compile(r"[^/\0]{1,255}")
# To keep or hold a parser for the next text, consecutive texts would have to reach the same process.
_ONE_PLACE = ("keep", "hold")


def admitted(job: Job, modes: tuple[Mode, ...] = SERVED) -> Job:
    """The job as it will run. Raises InvalidInput."""
    if job.mode not in modes:
        raise InvalidInput(
            f"this service does not do `{job.mode}`",
            suggestion=f"It does {', '.join(modes)}; files are converted and sessions live on the server itself.",
        )
    if not _ID.fullmatch(job.id):
        raise InvalidInput(
            "the job's `id` cannot be used", suggestion="Up to 200 letters, digits, `_`, `.`, `:`, `-`."
        )
    if job.dataset_version and not _VERSION.fullmatch(job.dataset_version):
        raise InvalidInput(
            f"{job.dataset_version[:100]!r} is not a dataset version",
            suggestion="It is `sha256:` and 64 hex digits.",
        )
    for ref in job.data:
        if not _FILE.fullmatch(ref.path) or ref.path in (".", ".."):
            raise InvalidInput(
                f"table {ref.table[:100]!r} names {ref.path[:100]!r}, which is no file of its dataset",
                suggestion="Name a file in the version's own folder, such as `orders.parquet`.",
            )
    for name, given, most in (
        ("wall_ms", job.limits.wall_ms, LONGEST_MS),
        ("result_bytes", job.limits.result_bytes, LARGEST_RESULT),
        ("log_bytes", job.limits.log_bytes, LARGEST_RESULT),
    ):
        if given > most:
            raise InvalidInput(
                f"`limits.{name}` is {given}; this service allows {most}",
                suggestion=f"Ask for {most} or less.",
            )
    options = {name: value for name, value in job.options.items() if name not in _ONE_PLACE}
    return job.model_copy(update={"options": options})


class DataFolder:
    """`<home>/data`, which this service only reads."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._integrity = Integrity(root)
        self._checks: dict[str, asyncio.Lock] = {}

    async def missing(self, job: Job) -> JobResult | None:
        """The job's result if its data is missing; None otherwise."""
        if not job.dataset_version or isinstance(self._integrity.look(job.dataset_version), Whole):
            return None
        lacking = await asyncio.to_thread(self._lacking, job)
        if lacking is None:
            return None
        return failed(
            job,
            "SANDBOX_UNAVAILABLE",
            "DataMissing",
            f"the execution service lacks {lacking}",
            "give `sandtable execd` the server's data: mount the folder `data` of the server's SANDTABLE_HOME,"
            " read-only, as `data` of its own SANDTABLE_HOME, or build an image that holds this version",
        )

    async def opened(self, job: Job) -> tuple[Job, Whole | None] | JobResult:
        """The job with its data, verified as intact; or the job's result if the data is damaged."""
        if not job.data:
            return job, None
        found = self._integrity.look(job.dataset_version)
        if found is None:
            async with self._checks.setdefault(job.dataset_version, asyncio.Lock()):
                found = await asyncio.to_thread(self._integrity.check, job.dataset_version)
        if isinstance(found, Damage):
            return self.damaged(job, found.why)
        unknown = [ref.path for ref in job.data if ref.path not in found.stamps]
        if unknown:
            return self.damaged(job, f"no digest of {', '.join(unknown)} is recorded")
        refs = tuple(ref.model_copy(update={"stamp": found.stamp(ref.path)}) for ref in job.data)
        return job.model_copy(update={"data": refs}), found

    async def unchanged(self, whole: Whole | None) -> bool:
        """Whether the files of an ended job are unchanged since they were opened."""
        if whole is None or not self._integrity.same(whole):
            return whole is None
        if whole.settled:
            return True
        found = await asyncio.to_thread(self._integrity.check, whole.version)
        return isinstance(found, Whole) and found.stamps == whole.stamps

    def damaged(self, job: Job, why: str) -> JobResult:
        error = damaged(job.dataset_version, f"at the execution service, {why}", job.dataset_id)
        advice = (
            "Restore the data of `sandtable execd`; where it reads the server's own, "
            "run `sandtable data scrub --repair` on the server."
        )
        return failed(job, error.code, "DataDamaged", error.message, advice)

    def _lacking(self, job: Job) -> str | None:
        folder = self._root / "versions" / job.dataset_version.removeprefix("sha256:")
        named = f" (dataset {quote(job.dataset_id)})" if job.dataset_id else ""
        if not folder.is_dir():
            return f"the data of version {job.dataset_version}{named}"
        files = [ref.path for ref in job.data if not (folder / ref.path).is_file()]
        if job.data and not (folder / DIGESTS).is_file():
            files.append(DIGESTS)
        return f"{', '.join(files)} of version {job.dataset_version}{named}" if files else None

    def versions(self) -> tuple[str, ...]:
        """The dataset versions on this machine, at most MOST_LISTED."""
        try:
            folders = sorted(
                f for f in (self._root / "versions").iterdir() if _VERSION.fullmatch(f"sha256:{f.name}")
            )
        except OSError:
            return ()
        # The self-test leaves a decoy folder for its escape attempts.
        data = (folder for folder in folders if not (folder / BAIT).exists())
        return tuple(f"sha256:{folder.name}" for folder in islice(data, MOST_LISTED))
