"""What docs/capsule.md tells a third party to run does what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from sandtable.capsule.model import Capsule, Digests
from sandtable.capsule.report import CODE_LINKS, LINKS

DOC = Path(__file__).parents[2] / "docs" / "capsule.md"
GOLDEN = Path(__file__).parent / "golden"


def check(capsule: Path, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "check.py"
    code = re.search(r"```python\n(.*?)```", DOC.read_text(), re.DOTALL)
    assert code is not None
    script.write_text(code[1])
    command = [sys.executable, "-W", "ignore", str(script), str(capsule), str(GOLDEN / "v1-key.pem")]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(
    "name", ["v1-succeeded", "v2-succeeded", "v2-chart-and-origin", "v3-sql", "v4-sql", "v5-sql"]
)
def test_a_third_party_can_check_a_capsule(name: str, tmp_path: Path) -> None:
    done = check(GOLDEN / f"{name}.json", tmp_path)
    assert done.stdout.startswith("run_018f00000000 succeeded SELECT"), done.stderr


def test_of_python_too(tmp_path: Path) -> None:
    done = check(GOLDEN / "v3-python.json", tmp_path)
    assert done.stdout.startswith("run_018f00000000 succeeded print('hi')"), done.stderr


def test_and_notices_a_change(tmp_path: Path) -> None:
    text = (GOLDEN / "v1-succeeded.json").read_text()
    changed = tmp_path / "changed.json"
    changed.write_text(text.replace("eyJfdHlwZSI6", "eyJfdHlwZSI7"))
    assert changed.read_text() != text
    assert "InvalidSignature" in check(changed, tmp_path).stderr


@pytest.mark.parametrize(
    "names", [LINKS + CODE_LINKS, tuple(Capsule.model_fields), tuple(Digests.model_fields)]
)
def test_every_link_and_field_is_described(names: tuple[str, ...]) -> None:
    text = DOC.read_text()
    assert [name for name in names if f"`{name}`" not in text] == []
