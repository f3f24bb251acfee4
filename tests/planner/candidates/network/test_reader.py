"""The reader that is shipped: what it writes is answerable, the same every time, and never in the way."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from sandtable.plan.model import QueryPlan
from sandtable.plan.reading import read_plan
from sandtable.planner.candidates.network import loading
from sandtable.planner.candidates.network.inputs import MOST_ITEMS, SIZE, inputs_of
from sandtable.planner.candidates.network.pieces import Pieces
from sandtable.planner.candidates.network.reader import Reader, the_reader
from sandtable.planner.candidates.network.sketch import Item, is_sketch
from sandtable.planner.outcome import Understood, Unsure
from sandtable.planner.planner import plan_question
from tests.planner.ground import World

MODEL = files("sandtable.planner.candidates.network") / "model"
QUESTIONS = (
    "How much did we take in last year?",
    "which channel brings in the most money",
    "average order total by region, not in 2024",
    "orders over 200 in Europe per month",
    "how many parcels came back",
    "zzz qqq",
    "",
    "'); DROP TABLE orders; --",
    "a " * 400,
    "Wie viele Bestellungen gab es?",
    "\u202e\u0000 revenue \ud7ff 😀",
    "top 5 of everything by everything except everything",
)


@pytest.fixture(scope="module")
def reader() -> Reader:
    found = the_reader()
    assert found is not None, "the extra `reader` is not installed"
    return found


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_it_writes_are_sketches_and_plans(
    reader: Reader, worlds: dict[str, World], question: str
) -> None:
    for world in worlds.values():
        read = reader.read(question, world.index)
        assert all(is_sketch(each.sketch) for each in read)
        assert all(isinstance(read_plan(each.plan), QueryPlan) for each in read if each.plan is not None)
        assert sum(2.718281828**each.likelihood for each in read) <= 1.001


@pytest.mark.parametrize("question", QUESTIONS)
def test_it_points_only_at_what_is_in_the_data_or_the_question(
    reader: Reader, worlds: dict[str, World], question: str
) -> None:
    index = worlds["ecommerce"].index
    known = {placed.item for placed in inputs_of(question, index, _pieces()).items}
    for each in reader.read(question, index):
        assert {token for token in each.sketch if isinstance(token, Item)} <= known


@pytest.mark.parametrize("question", QUESTIONS)
def test_inputs_are_bounded(worlds: dict[str, World], question: str) -> None:
    for world in worlds.values():
        made = inputs_of(question, world.index, _pieces())
        assert len(made.pieces) == len(made.parts) == len(made.types) == len(made.marks) <= SIZE
        assert len(made.items) <= MOST_ITEMS
        assert all(0 <= p.start < p.end <= len(made.pieces) for p in made.items)


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_accounts_for_every_word(reader: Reader, worlds: dict[str, World], question: str) -> None:
    for world in worlds.values():
        outcome = plan_question(question, world.index, reader=reader)
        if isinstance(outcome, Understood):
            assert outcome.account is not None and outcome.account.clean
        else:
            assert outcome.reason


def test_it_says_the_same_in_every_thread(reader: Reader, worlds: dict[str, World]) -> None:
    index = worlds["support"].index
    asked = [QUESTIONS[at % len(QUESTIONS)] for at in range(48)]
    alone = [reader.read(question, index) for question in asked]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda question: reader.read(question, index), asked)) == alone


def test_without_the_extra_the_grammar_serves_alone(
    monkeypatch: pytest.MonkeyPatch, worlds: dict[str, World]
) -> None:
    monkeypatch.setattr(loading.importlib.util, "find_spec", lambda name: None)
    assert not loading.has_reader()
    index = worlds["ecommerce"].index
    assert isinstance(plan_question("How many orders?", index, reader=None), Understood)
    assert isinstance(plan_question("kaching by region", index, reader=None), Unsure)


def test_what_was_begun_is_loaded_once(monkeypatch: pytest.MonkeyPatch, reader: Reader) -> None:
    asked: list[Path] = []
    monkeypatch.setattr(loading, "_loaded_from", lambda folder: asked.append(folder) or "loaded")
    loading.begin()
    with as_file(MODEL) as folder:
        assert loading.load(folder) == "loaded"
        assert asked == [folder]


def test_an_error_of_what_was_begun_is_raised_where_it_is_needed(
    monkeypatch: pytest.MonkeyPatch, reader: Reader
) -> None:
    def fail(folder: Path) -> None:
        raise OSError(f"{folder.name} is damaged")

    monkeypatch.setattr(loading, "_loaded_from", fail)
    loading.begin()
    with as_file(MODEL) as folder, pytest.raises(OSError, match="model is damaged"):
        loading.load(folder)


def test_nothing_of_it_is_loaded_at_start_up() -> None:
    code = (
        "import sys, sandtable.assemble.conversation, sandtable.server.app, sandtable.agent.builtin\n"
        "print([m for m in ('onnxruntime', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_loading_and_reading_leave_nothing_behind(tmp_path: Path) -> None:
    """onnxruntime would write an identifier and a database for its telemetry into the home."""
    code = (
        "from sandtable.planner.candidates.network.reader import the_reader\n"
        "from sandtable.planner.schema.index import SchemaIndex\n"
        "from tests.agent.house import PROFILE, SHOP\n"
        "assert the_reader().read('orders by region', SchemaIndex.build(SHOP, PROFILE))\n"
    )
    root = Path(__file__).resolve().parents[4]
    environment = {"HOME": str(tmp_path), "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path, check=True)
    assert not list(tmp_path.rglob("*"))


def test_the_manifest_is_of_these_files() -> None:
    manifest = json.loads((MODEL / "manifest.json").read_text("utf-8"))
    for name, said in manifest["files"].items():
        raw = (MODEL / name).read_bytes()
        assert hashlib.sha256(raw).hexdigest() == said["sha256"] and len(raw) == said["bytes"]
    assert sum(each["bytes"] for each in manifest["files"].values()) <= 16_000_000
    trees = files("sandtable.planner.ranking") / "trees.json"
    assert hashlib.sha256(trees.read_bytes()).hexdigest() == manifest["weigher"]
    assert "CC BY-SA 4.0" in (MODEL / "NOTICE").read_text("utf-8")


def _pieces() -> Pieces:
    return Pieces.load(Path(str(MODEL / "vocabulary.txt")))
