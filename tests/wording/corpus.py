"""The corpus: titled plans with their readings, and titled results with the sentences that answer from them.

`python -m tests.wording.corpus` (with `src` on PYTHONPATH) writes the sentences anew; read every one that
changed before keeping it.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from sandtable.catalog.model import Dataset
from sandtable.wording import answer_of, reading_of
from tests.plan.shop import SHOP
from tests.wording.prompts import PROMPTS
from tests.wording.running import CATALOG, answered, connect, generate

FOLDER = Path(__file__).parent / "corpus"

Case = dict[str, Any]


def cases(name: str) -> list[Case]:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def dataset_of(case: Case) -> Dataset:
    wanted = (case.get("plan") or {}).get("dataset_id", case.get("dataset", "ecommerce"))
    return SHOP if wanted == "shop" else CATALOG.get(wanted)


def reading(case: Case) -> str:
    return reading_of(case["plan"], dataset_of(case))


def answer(case: Case) -> str:
    columns = [(name, type_) for name, type_ in case["columns"]]
    given = {key: case[key] for key in ("truncated", "row_count", "overall") if key in case}
    return answer_of(case["question"], case.get("plan"), columns, case["rows"], dataset_of(case), **given)


def answers_to_prompts(folder: Path) -> dict[str, str]:
    """The answer to each prompt that a built-in dataset suggests; `folder` holds the generated data."""
    said: dict[str, str] = {}
    for dataset_id, prompts in PROMPTS.items():
        dataset = CATALOG.get(dataset_id)
        with connect(folder, dataset) as connection:
            said |= {q: answered(connection, q, plan, dataset)[0] for q, plan in prompts.items()}
    return said


def _lines(case: Case) -> str:
    body = [f"    {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in case.items()]
    return "  {\n" + ",\n".join(body) + "\n  }"


def rewrite() -> None:
    for name, key, made in (("readings", "reading", reading), ("answers", "answer", answer)):
        renewed = [{**case, key: made(case)} for case in cases(name)]
        text = "[\n" + ",\n".join(_lines(case) for case in renewed) + "\n]\n"
        (FOLDER / f"{name}.json").write_text(text, encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        said = answers_to_prompts(Path(folder))
    text = json.dumps(said, indent=2, ensure_ascii=False) + "\n"
    (FOLDER / "prompts.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    rewrite()
