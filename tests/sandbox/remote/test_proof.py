"""A proof stands for one request or one answer, and for nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.errors import InvalidInput
from sandtable.sandbox.remote.proof import SHORTEST, Claim, Token
from tests.sandbox.remote.process import OTHER_TOKEN, TOKEN

_NOW = 1_800_000_000.0
_METHODS = st.sampled_from(["GET", "POST", "DELETE"])
_TARGETS = st.sampled_from(["/v1/jobs", "/v1/jobs?wait_s=1", "/v1/hello", "/v1/jobs/a/result"])
_MINE, _OTHERS = Token(TOKEN), Token(OTHER_TOKEN)


@given(_METHODS, _TARGETS, st.binary(max_size=200))
def test_what_was_proven_is_accepted_after_the_wire(method: str, target: str, body: bytes) -> None:
    claim = Claim.read(_MINE.claim(method, target, body, _NOW).header())
    assert claim is not None
    assert _MINE.made(claim, method, target) and claim.covers(body)


@given(_METHODS, _METHODS, _TARGETS, _TARGETS, st.binary(max_size=50), st.binary(max_size=50))
def test_a_proof_stands_for_its_own_request_alone(
    method: str, other_method: str, target: str, other_target: str, body: bytes, other_body: bytes
) -> None:
    claim = _MINE.claim(method, target, body, _NOW)
    same = (method, target) == (other_method, other_target)
    assert _MINE.made(claim, other_method, other_target) == same
    assert claim.covers(other_body) == (body == other_body)


@pytest.mark.parametrize("field", ["milliseconds", "nonce", "digest", "mac"])
def test_no_part_of_a_claim_can_be_changed(field: str) -> None:
    claim = _MINE.claim("GET", "/v1/hello", b"", _NOW)
    value = getattr(claim, field)
    changed = value + 1 if isinstance(value, int) else value[:-1] + ("0" if value[-1] != "0" else "1")
    assert not _MINE.made(replace(claim, **{field: changed}), "GET", "/v1/hello")


def test_another_token_proves_nothing() -> None:
    claim = _OTHERS.claim("GET", "/v1/hello", b"", _NOW)
    assert not _MINE.made(claim, "GET", "/v1/hello")
    assert not _MINE.answered(_OTHERS.answer(claim.nonce, 200, b"{}"), claim.nonce, 200, b"{}")


@given(st.integers(200, 599), st.binary(max_size=50), st.integers(200, 599), st.binary(max_size=50))
def test_an_answer_belongs_to_its_request(status: int, body: bytes, other: int, other_body: bytes) -> None:
    nonce, another = "a" * 32, "b" * 32
    proof = _MINE.answer(nonce, status, body)
    assert _MINE.answered(proof, nonce, other, other_body) == ((status, body) == (other, other_body))
    assert not _MINE.answered(proof, another, status, body)


def test_a_request_cannot_be_sent_back_as_its_answer() -> None:
    claim = _MINE.claim("GET", "/v1/hello", b"", _NOW)
    for proof in (claim.mac, claim.header(), "", "é"):
        assert not _MINE.answered(proof, claim.nonce, 200, b"")


@pytest.mark.parametrize("header", ["", "v1", "v2 1 2 3 4", "v1 x y z w", "v1 1 " + "a" * 32 + " short mac"])
def test_what_is_no_claim(header: str) -> None:
    assert Claim.read(header) is None


@pytest.mark.parametrize("secret", ["", "hunter2", "x" * (SHORTEST - 1), " " * 100])
def test_a_token_that_could_be_guessed_is_refused(secret: str) -> None:
    with pytest.raises(InvalidInput, match="too short") as caught:
        Token(secret)
    assert "openssl rand" in caught.value.suggestion
    assert not secret.strip() or secret not in caught.value.message


def test_a_line_end_in_a_token_file_does_no_harm() -> None:
    claim = Token(TOKEN + "\n").claim("GET", "/", b"", _NOW)
    assert _MINE.made(claim, "GET", "/")


def test_a_token_does_not_show_itself() -> None:
    assert TOKEN not in repr(_MINE) + str(vars(_MINE))
