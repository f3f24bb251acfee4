"""The manifest of the reader that the product ships: `python -m training.reader.manifest DATA OUT MADE`.

OUT is the folder of the training (`figures.json`), MADE that of the export; `--earlier` names the folders of trainings
whose weights it went on from, the first of them first. Copies the model's files into the package
and writes `model/manifest.json`: what it was made of, with digests, seeds, licence and figures.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from training.reader.encoder import DIGEST, NAME

HERE = Path(__file__).parent
MODEL = HERE.parents[1] / "src/sandtable/planner/candidates/network/model"
FILES = ("encoder.onnx.gz", "decoder.npz", "vocabulary.txt")
MOST_BYTES = 16_000_000
LICENCE = "CC-BY-SA-4.0"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def digest_of_folder(folder: Path) -> str:
    lines = [f"{digest(path)}  {path.name}" for path in sorted(folder.glob("*.txt"))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("made", type=Path)
    parser.add_argument("--earlier", type=Path, nargs="*", default=[])
    args = parser.parse_args()
    MODEL.mkdir(exist_ok=True)
    shutil.copy(HERE / "vocabulary.txt", args.made / "vocabulary.txt")
    for name in FILES:
        shutil.copy(args.made / name, MODEL / name)
    sizes = {name: (MODEL / name).stat().st_size for name in FILES}
    if sum(sizes.values()) > MOST_BYTES:
        raise SystemExit(f"the model has {sum(sizes.values()):,} bytes, more than {MOST_BYTES:,}")
    domains, dialogues = HERE.parent / "domains", HERE.parent / "dialogues"
    manifest: dict[str, Any] = {
        "files": {name: {"sha256": digest(MODEL / name), "bytes": sizes[name]} for name in FILES},
        "weigher": digest(HERE.parents[1] / "src/sandtable/planner/ranking/trees.json"),
        "licence": LICENCE,
        "made_of": {
            NAME: {"licence": "MIT", "sha256": DIGEST},
            "WikiSQL": {
                "licence": "BSD-3-Clause",
                "sha256": digest(args.data / "wikisql/questions.jsonl.gz"),
            },
            "Wikipedia tables of TabFact": {
                "licence": "CC-BY-SA-3.0",
                "sha256": digest(args.data / "wikisql/tables.jsonl.gz"),
            },
            "Spider": {"licence": "CC-BY-SA-4.0", "sha256": digest(args.data / "spider/questions.jsonl.gz")},
            "our own domains": {
                "licence": "Apache-2.0",
                "count": len(list(domains.glob("*.txt"))),
                "sha256": digest_of_folder(domains),
            },
            "our own dialogues": {
                "licence": "Apache-2.0",
                "count": len(list(dialogues.glob("*.txt"))),
                "sha256": digest_of_folder(dialogues),
            },
        },
        "seeds": {"prepare": 1, "train": 1, "weigh": 1},
        "training": [
            json.loads((folder / "figures.json").read_text(encoding="utf-8"))[-1]
            for folder in (*args.earlier, args.out)
        ],
        "weighing": json.loads((args.made / "weighing.json").read_text(encoding="utf-8")),
    }
    (MODEL / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
