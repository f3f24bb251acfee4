"""What the environment says, made usable from any folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.settings import Settings


def test_paths_do_not_depend_on_the_current_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SANDTABLE_HOME", "here")
    monkeypatch.setenv("SANDTABLE_DATASETS", "~/there")
    settings = Settings()
    assert settings.home == tmp_path / "here"
    assert settings.datasets == Path.home() / "there"


def test_an_empty_variable_is_as_if_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "PORT", "TIMEOUT_S"):
        monkeypatch.delenv(f"SANDTABLE_{name}", raising=False)
    unset = Settings()
    for name in ("HOME", "PORT", "TIMEOUT_S"):
        monkeypatch.setenv(f"SANDTABLE_{name}", "")
    assert Settings() == unset
