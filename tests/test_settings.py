"""What the environment says, made usable from any folder."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path

import pytest

from sandtable.errors import InvalidInput
from sandtable.process import load_settings
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


def test_lists_are_texts_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "SANDTABLE_ALLOWED_HOSTS", "Data.example., .below.example,*.wild.example, [::1],10.0.0.7,*,"
    )
    monkeypatch.setenv("SANDTABLE_TRUSTED_PROXIES", "10.0.0.7, 10.1.0.0/16,fd00::/8")
    settings = Settings()
    hosts = ("data.example", ".below.example", "*.wild.example", "::1", "10.0.0.7", "*")
    assert settings.allowed_hosts == hosts
    assert settings.trusted_proxies == tuple(map(ip_network, ("10.0.0.7/32", "10.1.0.0/16", "fd00::/8")))


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("ALLOWED_HOSTS", "http://data.example", "without scheme"),
        ("ALLOWED_HOSTS", "data.example:8000", "without scheme, port"),
        ("ALLOWED_HOSTS", "data.example/x", "no host name"),
        ("ALLOWED_HOSTS", "**", "no host name"),
        ("TRUSTED_PROXIES", "proxy.example", "does not appear to be"),
        ("TRUSTED_PROXIES", "10.0.0.7/8", "has host bits set"),
        ("TRUSTED_PROXIES", "*", "does not appear to be"),
        ("INSECURE", "perhaps", "boolean"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, says: str
) -> None:
    monkeypatch.setenv(f"SANDTABLE_{name}", value)
    with pytest.raises(InvalidInput, match=says) as refused:
        load_settings()
    assert name.lower() in refused.value.message
