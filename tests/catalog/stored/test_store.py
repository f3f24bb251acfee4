from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.catalog.profile import ColumnProfile, Profile, TableProfile, ValueCount
from sandtable.catalog.stored import source
from sandtable.catalog.stored.conversions import Conversion
from sandtable.catalog.stored.store import DataStore, Workspace
from sandtable.catalog.version import dataset_version
from sandtable.errors import DataDamaged, InvalidInput, NotFound, RunnerBroken


def dataset(*names: str) -> Dataset:
    columns = (Column(name="x", type=ColumnType.TEXT, sql_type="VARCHAR"),)
    tables = tuple(Table(name=n, file=f"{n}.csv", sha256="0" * 64, columns=columns) for n in names or ("t",))
    return Dataset(id="d", tables=tables, version=dataset_version(tables))


def converted(store: DataStore, content: str = "parquet") -> Workspace:
    work = store.open_workspace()
    (store.root / work.staging / "out").write_text(content, "utf-8")
    return work


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o000, 0o077], ids=["open umask", "tight umask"])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
def recalled(store: DataStore) -> Dataset | None:
    found = store.recall("key")
    return found and found[0]


def test_modes_let_another_user_read_whatever_the_umask(tmp_path: Path) -> None:
    store = DataStore(tmp_path / "data")
    (tmp_path / "a.csv").write_text("x\n1\n", "utf-8")
    work = converted(store)
    copy, _ = store.stage(work, tmp_path / "a.csv", "a.csv")
    target = store.publish(work, dataset(), {"t": "out"})
    store.remember("k", Conversion(version=dataset().version, sources={}))
    folders = ["", "incoming", "versions", "by-source", work.incoming, str(target)]
    assert {f: mode(store.root / f) for f in folders} == dict.fromkeys(folders, 0o755)
    assert mode(store.root / "staging") == 0o711
    assert mode(store.root / work.staging) == 0o777
    files = [store.root / copy, target / "t.parquet", target / "dataset.json", store.root / "by-source/k"]
    assert {mode(f) for f in files} == {0o644}


def test_staging_copies_and_hashes_in_one_pass(store: DataStore, tmp_path: Path) -> None:
    content = b"x\n" + b"1\n" * 1_500_000
    (tmp_path / "big.csv").write_bytes(content)
    seen: list[tuple[int, int]] = []
    work = store.open_workspace()
    path, digest = store.stage(work, tmp_path / "big.csv", "b.csv", lambda done, of: seen.append((done, of)))
    assert path == f"incoming/{work.id}/b.csv"
    assert (store.root / path).read_bytes() == content
    assert digest == hashlib.sha256(content).hexdigest()
    assert seen[-1] == (len(content), len(content)) and len(seen) > 1


def test_full_disk_is_told_before_copying(
    store: DataStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.csv").write_bytes(b"x" * (3 << 20))
    usage = shutil.disk_usage(tmp_path)._replace(free=5 << 20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    work = store.open_workspace()
    with pytest.raises(InvalidInput, match=r"too full to take in a\.csv: it needs 19 MiB, 5 MiB are free"):
        store.stage(work, tmp_path / "a.csv", "a.csv")
    assert not list((store.root / work.incoming).iterdir())


def test_disk_that_fills_while_copying_leaves_nothing(
    store: DataStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.csv").write_bytes(b"x\n1\n")

    def full(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(source.os, "write", full)
    work = store.open_workspace()
    with pytest.raises(InvalidInput, match="the disk is too full"):
        store.stage(work, tmp_path / "a.csv", "a.csv")
    assert not list((store.root / work.incoming).iterdir())


def test_named_pipe_is_refused_without_waiting(store: DataStore, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InvalidInput, match="is not a regular file"):
        store.stage(store.open_workspace(), tmp_path / "pipe.csv", "a.csv")


def test_published_version_is_found_again(store: DataStore) -> None:
    d = dataset("a", "b")
    assert not store.has(d.version)
    work = converted(store)
    (store.root / work.staging / "out2").write_text("second", "utf-8")
    target = store.publish(work, d, {"a": "out", "b": "out2"})
    store.close_workspace(work)
    assert store.has(d.version) and store.load(d.version) == d and store.path(d.version) == target
    files = ["a.parquet", "b.parquet", "dataset.json", "digests.json"]
    assert sorted(p.name for p in target.iterdir()) == files
    assert (target / "b.parquet").read_text("utf-8") == "second"
    assert not list((store.root / "incoming").iterdir()) and not list((store.root / "staging").iterdir())
    assert DataStore(store.root).load(d.version) == d


def test_concurrent_publishers_of_one_version_all_succeed(store: DataStore) -> None:
    d, start = dataset(), threading.Barrier(6)

    def publish(_: int) -> Path:
        work = converted(store)
        start.wait()
        return store.publish(work, d, {"t": "out"})

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(publish, range(6))) == {store.path(d.version)}
    assert store.load(d.version) == d
    assert [p.name for p in (store.root / "versions").iterdir()] == [store.path(d.version).name]


def test_version_published_meanwhile_is_kept(store: DataStore, monkeypatch: pytest.MonkeyPatch) -> None:
    d = dataset()
    store.publish(converted(store, "first"), d, {"t": "out"})
    answers = iter([False, True])
    monkeypatch.setattr(store, "has", lambda _: next(answers))
    target = store.publish(converted(store, "second"), d, {"t": "out"})
    assert (target / "t.parquet").read_text("utf-8") == "first"
    assert [p.name for p in (store.root / "versions").iterdir()] == [target.name]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda f: (f / "t.parquet").unlink(), id="table lost"),
        pytest.param(lambda f: (f / "dataset.json").write_text("{"), id="description damaged"),
        pytest.param(lambda f: (f / "dataset.json").unlink(), id="description lost"),
        pytest.param(
            lambda f: (f / "dataset.json").write_text(dataset("other").model_dump_json()),
            id="another dataset",
        ),
        pytest.param(
            lambda f: ((f / "dataset.json").unlink(), os.mkfifo(f / "dataset.json")),
            id="description a named pipe",
        ),
        pytest.param(
            lambda f: (f / "dataset.json").write_text(
                dataset().model_dump_json().replace('"name":"x"', '"name":"y"')
            ),
            id="other columns",
        ),
    ],
)
def test_damaged_version_does_not_count_and_is_replaced(
    store: DataStore, damage: Callable[[Path], object]
) -> None:
    d = dataset()
    target = store.publish(converted(store), d, {"t": "out"})
    damage(target)
    assert not store.has(d.version)
    with pytest.raises((DataDamaged, NotFound)) as caught:
        store.load(d.version)
    assert "ingest" in caught.value.suggestion.lower() or "scrub --repair" in caught.value.suggestion
    assert str(store.root) not in str(caught.value.problem)
    store.publish(converted(store), d, {"t": "out"})
    assert store.load(d.version) == d


@pytest.mark.parametrize(
    "version", ["", "sha256:", "sha256:../../etc", "0" * 64, "sha256:" + "0" * 63, "sha256:" + "A" * 64]
)
def test_path_of_what_is_no_version(store: DataStore, version: str) -> None:
    with pytest.raises(NotFound, match="is not a dataset version"):
        store.path(version)
    assert not store.has(version)


@pytest.mark.parametrize(
    ("output", "complaint"),
    [
        pytest.param("../../secret", "no file name", id="outside"),
        pytest.param("..", "no file name", id="parent"),
        pytest.param("", "no file name", id="empty"),
        pytest.param("absent", "did not write it", id="never written"),
        pytest.param("link", "not a regular file", id="symbolic link"),
        pytest.param("folder", "not a regular file", id="folder"),
    ],
)
def test_output_of_a_hostile_job_is_not_trusted(store: DataStore, output: str, complaint: str) -> None:
    work = store.open_workspace()
    (store.root / "secret").write_text("secret", "utf-8")
    (store.root / work.staging / "link").symlink_to(store.root / "secret")
    (store.root / work.staging / "folder").mkdir()
    with pytest.raises(RunnerBroken, match=complaint):
        store.publish(work, dataset(), {"t": output})
    assert not list((store.root / "versions").iterdir())


def test_output_with_a_second_name_is_copied(store: DataStore) -> None:
    work = converted(store)
    out = store.root / work.staging / "out"
    os.link(out, store.root / "second-name")
    target = store.publish(work, dataset(), {"t": "out"})
    (store.root / "second-name").write_text("changed later", "utf-8")
    assert (target / "t.parquet").read_text("utf-8") == "parquet"


def test_recall_survives_a_damaged_index(store: DataStore) -> None:
    d = dataset()
    store.publish(converted(store), d, {"t": "out"})
    assert store.recall("key") is None
    store.remember("key", Conversion(version=d.version, sources={}))
    assert recalled(store) == d
    for content in ("", "7", "{}", '{"version": "sha256:x"}', '{"version": 5}'):
        (store.root / "by-source/key").write_text(content, "utf-8")
        assert store.recall("key") is None, content
    store.remember("key", Conversion(version=d.version, sources={}))
    assert recalled(store) == d


def test_clean_removes_only_old_leftovers(store: DataStore, tmp_path: Path) -> None:
    d = dataset()
    (tmp_path / "a.csv").write_text("x\n", "utf-8")
    store.publish(converted(store), d, {"t": "out"})
    store.remember("key", Conversion(version=d.version, sources={}))
    half = store.root / "versions" / ".half"
    half.mkdir()
    work = converted(store)
    store.stage(work, tmp_path / "a.csv", "a.csv")
    assert store.clean() == 0
    assert store.clean(now=time.time() + 3500) == 0
    assert store.clean(now=time.time() + 3700) == 3
    assert not half.exists() and not (store.root / work.staging).exists()
    assert not list((store.root / "incoming").iterdir())
    assert recalled(store) == d


def test_clean_spares_a_long_conversion_that_still_writes(store: DataStore) -> None:
    work = store.open_workspace()
    old = time.time() - 7200
    for folder in (store.root / work.incoming, store.root / work.staging):
        os.utime(folder, (old, old))
    (store.root / work.staging / "out").write_text("half", "utf-8")
    os.utime(store.root / work.staging, (old, old))
    assert store.clean() == 0
    assert (store.root / work.incoming).is_dir()


def test_rehash_finds_a_file_that_changed_after_it_was_published(store: DataStore) -> None:
    target = store.publish(converted(store), dataset(), {"t": "out"})
    assert store.rehash(dataset().version) == dataset().version
    (target / "t.parquet").write_text("Parquet", "utf-8")
    with pytest.raises(DataDamaged, match=r"t\.parquet changed after it was published"):
        store.rehash(dataset().version)


def profile(version: str) -> Profile:
    values = (
        ValueCount(value="a\0\ud7ff", count=2),
        ValueCount(value=1.5, count=1),
        ValueCount(value=True, count=1),
    )
    column = ColumnProfile(
        name="x", nulls=1, distinct=3, minimum=1, maximum="z", values=values, complete=True
    )
    return Profile(version=version, tables=(TableProfile(name="t", rows=5, columns=(column,)),))


def test_a_profile_comes_back_as_it_was(store: DataStore) -> None:
    version = dataset().version
    assert store.profile(version) is None
    store.keep_profile(profile(version))
    store.keep_profile(profile(version))
    kept = store.profile(version)
    assert kept == profile(version)
    assert kept is not None
    assert [type(v.value) for v in kept.tables[0].columns[0].values] == [str, float, bool]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b'{"format": 1}',
        b"[" * 100_000,
        b'{"format": 1, "profile": {"version": "x", "tables": "none"}}',
    ],
    ids=["empty", "cut", "a list", "null", "no UTF-8", "no profile", "deep", "no tables"],
)
def test_a_damaged_profile_is_none(store: DataStore, content: bytes) -> None:
    version = dataset().version
    store.keep_profile(profile(version))
    (path,) = (store.root / "profiles").iterdir()
    path.write_bytes(content)
    assert store.profile(version) is None
    store.keep_profile(profile(version))
    assert store.profile(version) == profile(version)


def test_a_profile_of_another_format_or_version_is_none(store: DataStore) -> None:
    version = dataset().version
    store.keep_profile(profile(version))
    (path,) = (store.root / "profiles").iterdir()
    good = path.read_text("utf-8")
    path.write_text(good.replace('"format": 1', '"format": 0'), "utf-8")
    assert store.profile(version) is None
    path.write_text(good.replace(version, f"sha256:{'f' * 64}"), "utf-8")
    assert store.profile(version) is None


def test_half_a_profile_is_never_seen_and_its_rest_is_cleaned(
    store: DataStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(path: Path, target: Path) -> None:
        raise SystemExit("the machine stopped")

    version = dataset().version
    with monkeypatch.context() as patch, pytest.raises(SystemExit, match="stopped"):
        patch.setattr(Path, "replace", dies)
        store.keep_profile(profile(version))
    assert store.profile(version) is None
    assert store.clean(time.time() + 7200) == 1
    assert list((store.root / "profiles").iterdir()) == []
