"""Files that are not what was published are found, by every process, whenever it starts; and only those."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.catalog.stored import source
from sandtable.catalog.stored.attestations import Attestation, Attestations
from sandtable.catalog.stored.integrity import Damage, Whole
from sandtable.catalog.stored.source import FileStamp
from sandtable.catalog.stored.store import DataStore
from sandtable.errors import DataDamaged, NotFound
from tests.catalog.damage import DAMAGE, HARMLESS, TABLE, Act, dataset, fit_digests, flip, publish
from tests.catalog.stored.test_store import profile

D = dataset()
OTHER = dataset(sha256="1" * 64)
KEY = b"k" * 32
Home = Callable[..., DataStore]

damages = pytest.mark.parametrize("act", DAMAGE.values(), ids=list(DAMAGE))


@pytest.fixture(autouse=True)
def _quick_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file system of the tests has a finer clock than the coarsest that there is."""
    monkeypatch.setattr(source, "_SETTLED_NS", 15_000_000)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A process: by default of the one home and key, over the one data folder."""

    def process(name: str = "home", key: bytes = KEY) -> DataStore:
        return DataStore(tmp_path / "data", Attestations(tmp_path / name / "attestations", key))

    return process


@pytest.fixture
def store(home: Home) -> DataStore:
    """With two versions, known to be whole."""
    made = home()
    for each in (D, OTHER):
        publish(made, each)
    settle()
    assert isinstance(made.check(D.version), Whole)
    return made


def settle() -> None:
    time.sleep(0.03)


def whole(store: DataStore) -> Whole:
    found = store.check(D.version)
    assert isinstance(found, Whole)
    return found


@damages
def test_damage_is_found_by_the_process_that_knew_the_files(store: DataStore, act: Act) -> None:
    before = whole(store)
    assert store.integrity.look(D.version) == before and store.integrity.same(before)
    act(store.path(D.version))
    assert not store.integrity.same(before)
    assert store.integrity.look(D.version) is None
    found = store.check(D.version)
    assert isinstance(found, Damage) and found.why
    assert not isinstance(store.integrity.look(D.version), Whole)


@damages
def test_damage_done_while_nothing_ran_is_found_by_the_next_process(
    store: DataStore, home: Home, act: Act
) -> None:
    act(store.path(D.version))
    found = home().check(D.version)
    assert isinstance(found, Damage)
    again = home().check(D.version)
    assert isinstance(again, Damage) and again.why == found.why
    settle()
    assert isinstance(home().check(D.version), Damage)
    assert isinstance(home().check(OTHER.version), Whole)
    with pytest.raises(DataDamaged) as caught:
        home().rehash(D.version)
    assert str(store.root) not in str(caught.value.problem)
    assert "sandtable data scrub --repair" in caught.value.suggestion


@pytest.mark.parametrize("act", HARMLESS.values(), ids=list(HARMLESS))
def test_what_leaves_the_bytes_alone_is_no_damage(store: DataStore, home: Home, act: Act) -> None:
    before = whole(store)
    act(store.path(D.version))
    for process in (store, home()):
        found = process.check(D.version)
        assert isinstance(found, Whole)
        assert found.copy_id == before.copy_id, "results made before may be used"


def test_files_that_were_restored_are_whole_and_another_copy(store: DataStore, home: Home) -> None:
    before, path = whole(store), store.path(D.version) / TABLE
    flip(path)
    assert isinstance(store.check(D.version), Damage)
    flip(path)
    for process in (store, home()):
        found = process.check(D.version)
        assert isinstance(found, Whole) and found.copy_id != before.copy_id
    assert whole(store).copy_id == whole(home()).copy_id


def test_two_swapped_versions_are_both_damaged(store: DataStore, home: Home) -> None:
    one, other = store.path(D.version), store.path(OTHER.version)
    one.rename(one.parent / "aside")
    other.rename(one)
    (one.parent / "aside").rename(other)
    assert isinstance(store.check(D.version), Damage) and isinstance(home().check(OTHER.version), Damage)


def test_a_known_state_is_not_hashed_again(
    store: DataStore, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle()
    whole(store)

    def hashed(*_: object, **__: object) -> str:
        raise AssertionError("the files were read")

    monkeypatch.setattr("sandtable.catalog.stored.version_files.digest_open_file", hashed)
    assert isinstance(store.integrity.look(D.version), Whole)
    assert isinstance(home().check(D.version), Whole), "another process finds it in the home's record"


def test_after_the_machine_was_started_again_the_files_are_read(
    store: DataStore, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle()
    silently(store, tmp_path / "home")
    assert isinstance(home().check(D.version), Whole), "stamps alone cannot tell"
    monkeypatch.setattr("sandtable.catalog.stored.integrity.boot_id", lambda: "another")
    assert isinstance(home().check(D.version), Damage)


def test_what_changed_a_moment_ago_is_hashed_again_each_time(
    store: DataStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "_SETTLED_NS", 3600 * 10**9)
    os.utime(store.path(D.version) / TABLE)
    assert not whole(store).settled
    assert store.integrity.look(D.version) is None, "the next change might leave the same stamps"


def test_a_large_file_is_hashed_once_it_has_settled(
    store: DataStore, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.utime(store.path(D.version) / TABLE)
    monkeypatch.setattr("sandtable.catalog.stored.integrity._LARGE", 1)
    monkeypatch.setattr("sandtable.catalog.stored.integrity._UNSETTLED_S", 0.03)
    found = home().check(D.version)
    assert isinstance(found, Whole) and found.settled


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> DataStore:
    """Where there is no key."""
    store = DataStore(tmp_path_factory.mktemp("plain"))
    publish(store, D)
    return store


@given(file=st.sampled_from([TABLE, "dataset.json"]), at=st.integers(0), mask=st.integers(1, 255))
def test_any_changed_byte_is_found(plain: DataStore, file: str, at: int, mask: int) -> None:
    path = plain.path(D.version) / file
    before = path.read_bytes()
    changed = bytearray(before)
    changed[at % len(changed)] ^= mask
    path.write_bytes(changed)
    assert isinstance(plain.integrity.check(D.version), Damage)
    path.write_bytes(before)
    assert isinstance(plain.integrity.check(D.version), Whole)


def silently(store: DataStore, home: Path) -> None:
    """A byte changes, and the file system says that nothing did: the home's record is made to say so."""
    path = store.path(D.version) / TABLE
    flip(path)
    known = Attestations(home / "attestations", KEY)
    record = known.read(D.version)
    assert record is not None
    stamps = {**record.stamps, TABLE: FileStamp.of(path.lstat())}
    settle()
    known.write(record.model_copy(update={"stamps": stamps}))


def test_what_changed_without_a_trace_is_found_by_reading_and_then_by_everyone(
    store: DataStore, home: Home, tmp_path: Path
) -> None:
    settle()
    silently(store, tmp_path / "home")
    fooled = home()
    before = fooled.check(D.version)
    assert isinstance(before, Whole), "stamps alone cannot tell"
    assert isinstance(home().check(D.version, thorough=True), Damage)
    assert not fooled.integrity.same(before), "the file now shows that something happened"
    assert isinstance(fooled.check(D.version), Damage)
    flip(store.path(D.version) / TABLE)
    found = fooled.check(D.version)
    assert isinstance(found, Whole) and found.copy_id != before.copy_id


def test_a_store_of_before_is_taken_as_it_is_and_held_to_that(
    store: DataStore, home: Home, tmp_path: Path
) -> None:
    folder = store.path(D.version)
    fit_digests(folder, keep_code=False)
    shutil.rmtree(tmp_path / "home")
    assert isinstance(home().check(D.version), Whole)
    flip(folder / TABLE)
    fit_digests(folder)
    assert isinstance(home().check(D.version), Damage)


def test_data_that_are_damaged_when_first_seen(store: DataStore, home: Home, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "home")
    flip(store.path(D.version) / TABLE)
    assert isinstance(home().check(D.version), Damage)
    flip(store.path(D.version) / TABLE)
    assert isinstance(home().check(D.version), Whole)


def test_a_record_by_another_key_counts_as_none(store: DataStore, tmp_path: Path) -> None:
    flip(store.path(D.version) / TABLE)
    forged = Attestations(tmp_path / "home" / "attestations", b"other" * 8)
    stamps = {name: FileStamp.of((store.path(D.version) / name).lstat()) for name in whole_names(store)}
    forged.write(Attestation(version=D.version, files={}, stamps=stamps))
    assert isinstance(store.check(D.version), Damage)


def whole_names(store: DataStore) -> list[str]:
    return [".", *(path.name for path in store.path(D.version).iterdir() if path.name != "digests.json")]


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"0\n{}", b"\xff" * 100, b"{" * 10_000],
    ids=["empty", "a line", "another code", "no text", "deep"],
)
def test_a_damaged_record_costs_one_reading(store: DataStore, home: Home, content: bytes) -> None:
    path = next(store.root.parent.glob("home/attestations/*" + D.version[-4:]))
    path.write_bytes(content)
    assert isinstance(home().check(D.version), Whole)
    flip(store.path(D.version) / TABLE)
    assert isinstance(home().check(D.version), Damage)


def test_servers_with_one_key_accept_what_the_other_built_again(store: DataStore, home: Home) -> None:
    fellow = home("fellow")
    assert isinstance(fellow.check(D.version), Whole)
    flip(store.path(D.version) / TABLE)
    assert isinstance(store.check(D.version), Damage)
    publish(store, D, "the rows of {}, compressed otherwise", replace=True)
    assert isinstance(store.check(D.version), Whole)
    assert isinstance(fellow.check(D.version), Whole)
    assert isinstance(home("another", b"other" * 8).check(D.version), Whole), "seen for the first time"


def test_a_rebuilt_version_is_another_copy_with_whole_digests(store: DataStore, home: Home) -> None:
    before = whole(store)
    flip(store.path(D.version) / TABLE)
    store.check(D.version)
    publish(store, D, "the rows of {}, compressed otherwise", replace=True)
    assert store.rehash(D.version) == D.version
    assert whole(home()).copy_id != before.copy_id
    assert not [path for path in (store.root / "versions").iterdir() if path.name.startswith(".")]


def test_digests_that_name_other_places_are_not_followed(
    store: DataStore, home: Home, tmp_path: Path
) -> None:
    shutil.rmtree(tmp_path / "home")
    (tmp_path / "secret").write_text("x", "utf-8")
    for name in ("../../../secret", "/etc/passwd", "..", ".", "", "a\0b", "\ud800"):
        (store.path(D.version) / "digests.json").write_text(f'{{"{name}": "0"}}'.replace("\0", "\\u0000"), "utf-8",
                                                            errors="backslashreplace")  # fmt: skip
        assert isinstance(home().check(D.version), Damage), name


def test_what_is_not_there_is_not_damaged(store: DataStore) -> None:
    with pytest.raises(NotFound):
        store.check("sha256:" + "9" * 64)
    with pytest.raises(NotFound):
        store.check("sha256:../../etc")


def test_the_home_keeps_its_records_to_itself(store: DataStore, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "attestations"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        d.version.removeprefix("sha256:") for d in (D, OTHER)
    )


def test_a_home_that_cannot_be_written_costs_only_the_remembering(
    store: DataStore, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    shutil.rmtree(tmp_path / "home")
    monkeypatch.setattr("sandtable.catalog.stored.attestations.replace_file", full)
    settle()
    process = home()
    assert isinstance(process.check(D.version), Whole)
    assert isinstance(process.integrity.look(D.version), Whole)
    flip(store.path(D.version) / TABLE)
    assert isinstance(process.check(D.version), Damage)


def test_a_profile_that_was_changed_is_not_used(store: DataStore, home: Home) -> None:
    store.keep_profile(profile(D.version))
    assert home().profile(D.version) == profile(D.version)
    path = store.root / "profiles" / f"{store.path(D.version).name}.json"
    path.write_text(path.read_text("utf-8").replace('"nulls":1', '"nulls":2'), "utf-8")
    assert home().profile(D.version) is None
    store.keep_profile(profile(D.version))
    assert home().profile(D.version) == profile(D.version)


def test_a_profile_that_is_first_found_is_held_to_what_it_was(
    store: DataStore, home: Home, tmp_path: Path
) -> None:
    store.keep_profile(profile(D.version))
    shutil.rmtree(tmp_path / "home")
    assert home().check(D.version) and home().profile(D.version) is not None
    path = store.root / "profiles" / f"{store.path(D.version).name}.json"
    path.write_text(path.read_text("utf-8").replace('"nulls":1', '"nulls":2'), "utf-8")
    assert home().profile(D.version) is None


def test_a_profile_goes_with_the_files_that_it_was_made_from(store: DataStore, home: Home) -> None:
    store.keep_profile(profile(D.version))
    flip(store.path(D.version) / TABLE)
    store.check(D.version)
    assert home().profile(D.version) is None
    flip(store.path(D.version) / TABLE)
    assert isinstance(home().check(D.version), Whole) and home().profile(D.version) is None


def test_versions_are_listed_without_the_self_tests_bait(store: DataStore) -> None:
    bait = store.root / "versions" / ("9" * 64)
    bait.mkdir()
    (bait / "bait.parquet").write_bytes(b"untouched")
    (store.root / "versions" / ".half").mkdir()
    assert store.versions() == sorted(d.version for d in (D, OTHER))
