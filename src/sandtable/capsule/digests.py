"""The digests of a capsule's content, for every format: what is sealed, and what a verification compares.

Invariant: pure, and computed from the fields in JSON form alone.
"""

from __future__ import annotations

from typing import Any

from sandtable.capsule.canonical import digest
from sandtable.capsule.model import LOG_CHARS, SCHEMA
from sandtable.capsule.result_digest import result_digest
from sandtable.capsule.shown import artifacts_digest


def digests_of(
    fields: dict[str, Any],
    known_result: str | None = None,
    whole_stdout: str | None = None,
    whole_before: list[dict[str, Any]] | None = None,
) -> dict[str, str | None]:
    """The digests of a capsule's content, given its fields in JSON form.

    `known_result` avoids hashing a result twice when sealing; `whole_stdout` and `whole_before` are values that the
    record may hold only in part; a verification omits them. Raises ValueError where the content is inconsistent.
    """

    of_sql = fields["plan"] is not None or fields["sql"] is not None
    if of_sql == (fields.get("python") is not None):
        raise ValueError("it holds neither a plan nor SQL nor Python, or Python beside one of them")

    def optional(name: str) -> str | None:
        return None if fields[name] is None else digest(fields[name])

    made = {
        "data": fields["dataset_version"],
        "question": digest(fields["question"]),
        "plan": optional("plan"),
        "sql": optional("sql"),
        "executed_sql": optional("executed_sql"),
        "prompts": digest(fields["prompts"]),
        "limits": digest(fields["limits"]),
        "result": known_result or _result_digest(fields["result"]),
    }
    version = fields.get("schema_version", SCHEMA)
    if version == "1":
        return made
    made |= {"chart": optional("chart"), "origin": optional("origin")}
    if version == "2":
        return made
    if version != "3":
        made["catalog"] = fields["catalog_version"]
    if version not in ("3", "4"):
        made["asked_by"] = digest(fields["asked_by"])
    if version not in ("3", "4", "5"):
        made["pin"] = digest(fields["pin"])
    if fields["python"] is None:
        if fields["artifacts"] or fields["names"] or fields["before"]:
            raise ValueError("it holds what code shows, and no code")
        return made | _NO_CODE
    return made | {
        "python": digest(fields["python"]),
        "names": optional("names"),
        "before": _before_digest(fields, whole_before),
        "artifacts": artifacts_digest(fields["artifacts"]),
        "stdout": _stdout_digest(fields, whole_stdout),
    }


_NO_CODE: dict[str, str | None] = dict.fromkeys(("python", "names", "before", "artifacts", "stdout"))


def _before_digest(fields: dict[str, Any], whole: list[dict[str, Any]] | None) -> str:
    if whole is not None or fields["before"] is not None:
        return digest(fields["before"] if whole is None else whole)
    recorded = (fields.get("digests") or {}).get("before")
    if recorded is None:
        raise ValueError("it holds code, and nothing about what ran before it")
    return recorded


def _stdout_digest(fields: dict[str, Any], whole: str | None) -> str | None:
    """Over the whole output. Where only its beginning is recorded, its digest cannot be checked."""
    if whole is not None:
        return digest(whole)
    if len(fields["stdout"]) < LOG_CHARS or "digests" not in fields:
        return digest(fields["stdout"])
    return fields["digests"].get("stdout")


def prompts_of(origin: dict[str, Any] | None) -> list[str]:
    """The capsule's `prompts`, given its `origin` in JSON form."""
    return [f"sha256:{prompt['sha256']}" for prompt in origin["prompts"]] if origin else []


def _result_digest(result: dict[str, Any] | None) -> str | None:
    if result is None:
        return None
    if not result["rows_complete"]:
        return result["digest"]
    return result_digest([(c["name"], c["type"]) for c in result["columns"]], result["rows"])
