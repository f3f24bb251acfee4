"""What is built for the web: when it is made again, where it goes, and that packages carry it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from scripts import build_web, node

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "app"
    for name in (
        "src/app.tsx",
        "src/app.test.tsx",
        "package-lock.json",
        "node_modules/x.js",
        "dist/index.html",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("first")
    monkeypatch.setattr(build_web, "APP", folder)
    return folder


@pytest.mark.parametrize(
    ("name", "again"),
    [
        ("src/app.tsx", True),
        ("src/new.css", True),
        ("package-lock.json", True),
        ("src/app.test.tsx", False),
        ("node_modules/x.js", False),
        ("dist/index.html", False),
        (".vite.log", False),
    ],
)
def test_a_build_is_made_again_when_what_it_is_made_from_changes(app: Path, name: str, again: bool) -> None:
    before = build_web.key()
    (app / name).write_text("second")
    assert (build_web.key() != before) == again


def test_a_renamed_source_is_a_change(app: Path) -> None:
    before = build_web.key()
    (app / "src/app.tsx").rename(app / "src/main.tsx")
    assert build_web.key() != before


@pytest.fixture
def placed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(node, "ROOT", tmp_path)
    monkeypatch.setattr(node, "BUILT", tmp_path / "built")
    return tmp_path / "built" / "web"


def test_a_build_is_made_once_and_placed_whole(placed: Path) -> None:
    made: list[str] = []

    def place(key: str) -> None:
        def build(scratch: Path) -> Path:
            made.append(key)
            (scratch / "dist").mkdir()
            (scratch / "dist" / "index.html").write_text(key)
            (scratch / "dist" / f"{key}.js").touch()
            return scratch / "dist"

        node.place("It", "web", key, build)

    def there() -> list[str]:
        return sorted(path.name for path in placed.iterdir())

    place("one")
    place("one")
    assert (made, there()) == (["one"], [".made-from", "index.html", "one.js"])
    place("two")
    assert (made, there()) == (["one", "two"], [".made-from", "index.html", "two.js"])
    place("one")
    assert (made, (placed / "index.html").read_text()) == (["one", "two"], "one")
    shutil.rmtree(placed)
    place("one")
    assert (made, there()) == (["one", "two"], [".made-from", "index.html", "one.js"])


def test_a_build_that_fails_leaves_the_one_before(placed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    placed.mkdir(parents=True)
    (placed / "index.html").write_text("before")

    def build(scratch: Path) -> Path:
        raise node.Broken("no such version")

    assert node.attempt("It", "make it", lambda: node.place("It", "web", "key", build)) == 1
    assert (placed / "index.html").read_text() == "before"
    said = capsys.readouterr().err
    assert "It could not be built: no such version" in said
    assert "`make it` tries again" in said


def test_old_builds_do_not_pile_up(placed: Path, tmp_path: Path) -> None:
    def build(scratch: Path) -> Path:
        (scratch / "index.html").touch()
        return scratch

    for n in range(node.BUILDS_KEPT + 3):
        node.place("It", "web", f"key{n}", build)
    assert len(list((tmp_path / "cache/sandtable/web").iterdir())) == node.BUILDS_KEPT


def test_packages_carry_what_is_built(tmp_path: Path) -> None:
    for name in ("pyproject.toml", ".gitignore", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, tmp_path / name)
    built = ("_built/web/index.html", "_built/web/assets/index-a1.js", "_built/chat-ui/index.html")
    for name in ("__init__.py", "__pycache__/app.pyc", *(f"server/{file}" for file in built)):
        (tmp_path / "src/sandtable" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src/sandtable" / name).touch()
    (tmp_path / "src/sandtable_runner").mkdir()
    (tmp_path / "datasets").mkdir()
    carried = {file.distribution_path for file in WheelBuilder(str(tmp_path)).recurse_included_files()}
    assert carried == {"sandtable/__init__.py", *(f"sandtable/server/{file}" for file in built)}
