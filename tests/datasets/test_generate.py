"""The generator gives the same bytes everywhere, and the registry describes exactly those."""

from __future__ import annotations

import ast
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

DATASETS = Path(__file__).resolve().parents[2] / "datasets"
# What could differ from machine to machine: libm, other generators, the clock, the locale.
FORBIDDEN = {
    "math",
    "cmath",
    "random",
    "statistics",
    "decimal",
    "fractions",
    "locale",
    "time",
    "os",
    "secrets",
}


def test_registry_holds_the_digest_and_row_count_of_every_generated_file(
    made: Path, registry: dict[str, Any]
) -> None:
    found = {
        (dataset["id"], table["file"]): (table["sha256"], table["rows"])
        for dataset in registry["datasets"]
        for table in dataset["tables"]
    }
    expected = {}
    for path in made.glob("*/*.csv"):
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        expected[path.parent.name, path.name] = digest, content.count(b"\n") - 1
    assert found == expected, "run `python datasets/generate --write-registry` and look at the difference"


def test_program_writes_the_same_bytes_as_the_module(made: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-I",
        "-B",
        str(DATASETS / "generate"),
        "--out",
        str(tmp_path),
        "--only",
        "support",
    ]
    env = {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    subprocess.run(command, check=True, capture_output=True, env=env, cwd=tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["support"]
    assert (tmp_path / "support/tickets.csv").read_bytes() == (made / "support/tickets.csv").read_bytes()


def test_files_are_utf8_with_lf_line_ends(made: Path) -> None:
    for path in made.glob("*/*.csv"):
        content = path.read_bytes()
        assert b"\r" not in content and content.endswith(b"\n")
        content.decode("utf-8")


def test_generator_imports_nothing_that_depends_on_the_machine() -> None:
    for path in (DATASETS / "generate").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            imported = {name.partition(".")[0] for name in names}
            assert imported <= sys.stdlib_module_names | {"generate"}, path.name
            assert not imported & FORBIDDEN, path.name


def test_generator_uses_no_float(generator: ModuleType) -> None:
    for path in (DATASETS / "generate").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            assert not (isinstance(node, ast.Constant) and isinstance(node.value, float)), path.name
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                # A slash between paths is the only one allowed.
                assert any(word in ast.unparse(node) for word in ("out /", "folder /", "HERE")), ast.unparse(
                    node
                )


def test_each_dataset_stays_below_50000_rows(registry: dict[str, Any]) -> None:
    for dataset in registry["datasets"]:
        assert 10_000 < sum(table["rows"] for table in dataset["tables"]) < 50_000, dataset["id"]


def test_refresh_restores_digests_and_leaves_the_rest(
    generator: ModuleType, registry: dict[str, Any], tmp_path: Path
) -> None:
    from generate.refresh import refresh  # pyright: ignore[reportMissingImports]  (loaded by path, by the fixture)

    spoiled = json.loads(json.dumps(registry))
    spoiled["datasets"][0]["tables"][0].update(sha256="0" * 64, rows=1)
    spoiled["datasets"][1]["version"] = "sha256:" + "0" * 64
    spoiled["datasets"][2]["description"] = "Written by hand — stays"
    path = tmp_path / "registry.json"
    path.write_text(json.dumps(spoiled), "utf-8")
    refresh(path)
    refreshed = json.loads(path.read_text("utf-8"))
    assert refreshed["datasets"][2].pop("description") == "Written by hand — stays"
    expected = json.loads(json.dumps(registry))
    del expected["datasets"][2]["description"]
    assert refreshed == expected


@pytest.mark.parametrize(
    ("seed", "first"),
    [
        pytest.param(0, [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F], id="zero"),
        pytest.param(
            1234567, [6457827717110365317, 3203168211198807973, 9817491932198370423], id="published"
        ),
    ],
)
def test_random_numbers_are_splitmix64(generator: ModuleType, seed: int, first: list[int]) -> None:
    rng = sys.modules["generate.prng"].Random(seed)
    assert [rng.bits() for _ in first] == first


@pytest.mark.parametrize(
    ("units", "places", "text"),
    [(0, 2, "0.00"), (5, 2, "0.05"), (-5, 2, "-0.05"), (-1205, 2, "-12.05"), (199, 1, "19.9")],
)
def test_decimals_are_spelled_exactly(generator: ModuleType, units: int, places: int, text: str) -> None:
    assert sys.modules["generate.table"].decimal(units, places) == text
