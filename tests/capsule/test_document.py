"""The readable copy beside an envelope: it helps a reader, and must not deceive one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandtable.capsule.document import document
from sandtable.capsule.report import VerifyReport
from sandtable.capsule.seal import seal
from sandtable.capsule.verify import verify
from tests.capsule.samples import KEY, capsule, world


def broken(report: VerifyReport) -> list[str]:
    return [link.name for link in report.links if link.status == "broken"]


def made(**changes: Any) -> dict[str, Any]:
    whole = document(seal(capsule(), KEY))
    return {**whole, "capsule": {**whole["capsule"], **changes}}


@pytest.mark.parametrize(
    "form", [dict, json.dumps, lambda d: json.dumps(d).encode()], ids=["object", "text", "bytes"]
)
async def test_a_document_is_verified_in_every_form(form: Any) -> None:
    assert (await verify(form(made()), world())).ok
    assert (await verify(form(seal(capsule(), KEY)), world())).ok
    assert broken(await verify(form(made(question="another")), world())) == ["envelope"]


@pytest.mark.parametrize("copy", [None, [], "text", {}, 1], ids=repr)
async def test_a_copy_of_another_shape_is_false(copy: Any) -> None:
    assert broken(await verify({**made(), "capsule": copy}, world())) == ["envelope"]


async def test_a_copy_too_deep_to_compare_is_false() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert broken(await verify(made(question=deep), world())) == ["envelope"]


async def test_of_two_lies_the_envelope_is_told() -> None:
    report = await verify({"capsule": {}, "a": 1}, world())
    assert broken(report) == ["envelope"] and "exactly the fields" in report.links[0].detail
