"""The network's training on a GPU: `python -m training.reader.train FOLDER --out OUT --epochs 12`.

FOLDER holds the examples (`*.npz.xz` of `prepare`); `--from` is the folder of the weights that training starts from:
those of `encoder`, of an earlier training, or of the shipped reader. Needs PyTorch with CUDA and about 8 GB of
memory on the device; nothing of the product. `--state FILE` keeps where the training stands, so that it can go on in
another call, and `--seconds` ends a call in time. Writes `weights-*.npz` and `figures.json`.
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import math
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from training.reader.encoder import write_parts
from training.reader.network import Network
from training.reader.resume import earlier_weights

SOURCES = ("own", "spider", "wikisql", "template", "dialogue", "none")
_BLURRED = 0.1
_HIDDEN = 0.05
_SMOOTHED = 0.05
"""How much of each token's weight goes to the other tokens that the grammar allows: a network that is never certain."""
_STEADY = 0.9995
"""How much of the averaged weights each step keeps; it is the averaged network that is measured and written."""
_COUNTED = {"piece_ends": "pieces", "item_ends": "item_kinds", "target_ends": "targets"}
"""Arrays of places in another array."""
_NEIGHBOURS = 64
"""Batches that are sorted by length together."""


def joined(sets: list[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Sets of examples as one."""
    made: dict[str, np.ndarray] = {"words": sets[0]["words"]}
    for name in sets[0]:
        if name == "words":
            assert all((each["words"] == made["words"]).all() for each in sets), "sets of different grammars"
            continue
        parts = [each[name] for each in sets]
        counted = "allowed" if name == "states" else _COUNTED.get(name)
        if counted is not None:
            sizes = [len(each[counted]) for each in sets]
            before = np.cumsum([0, *sizes[:-1]])
            parts = [part.astype(np.int64) + at for part, at in zip(parts, before, strict=True)]
        made[name] = np.concatenate(parts)
    return made


class Examples:
    """All examples on the device, each padded to the longest."""

    def __init__(self, folder: Path, device: str) -> None:
        raw = joined(
            [np.load(io.BytesIO(lzma.decompress(p.read_bytes()))) for p in sorted(folder.glob("*.npz.xz"))]
        )
        self.device = device
        self.words = len(raw["words"])
        self.unknown = 1
        piece_ends, item_ends, target_ends = raw["piece_ends"], raw["item_ends"], raw["target_ends"]
        self.lengths = np.diff(piece_ends, prepend=0)
        self.item_counts = np.diff(item_ends, prepend=0)
        self.token_counts = np.diff(target_ends, prepend=0)
        self.pieces = self._padded(raw["pieces"], piece_ends, self.lengths, torch.int32)
        self.parts = self._padded(raw["parts"], piece_ends, self.lengths, torch.uint8)
        self.types = self._padded(raw["types"], piece_ends, self.lengths, torch.uint8)
        self.marks = self._padded(raw["marks"], piece_ends, self.lengths, torch.uint8)
        self.kinds = self._padded(raw["item_kinds"], item_ends, self.item_counts, torch.uint8)
        self.starts = self._padded(raw["item_starts"], item_ends, self.item_counts, torch.int16)
        self.stops = self._padded(raw["item_stops"], item_ends, self.item_counts, torch.int16)
        self.columns = self._padded(raw["item_columns"], item_ends, self.item_counts, torch.int16)
        self.targets = self._padded(raw["targets"], target_ends, self.token_counts, torch.int32)
        self.states = self._padded(raw["states"], target_ends, self.token_counts, torch.int32)
        self.allowed = torch.tensor(raw["allowed"], device=device)
        self.sources, self.tune = raw["sources"], raw["tune"]

    def _padded(self, values: np.ndarray, ends: np.ndarray, counts: np.ndarray, kind: torch.dtype) -> Tensor:
        rows, width = len(ends), int(counts.max())
        made = np.zeros((rows, width), dtype=np.int32)
        places = np.arange(width)[None, :] < counts[:, None]
        made[places] = values
        return torch.tensor(made, dtype=kind).to(self.device)

    def batch(self, chosen: np.ndarray, blur: torch.Generator | None = None) -> dict[str, Tensor]:
        at = torch.tensor(chosen, device=self.device)
        length, items = int(self.lengths[chosen].max()), int(max(1, self.item_counts[chosen].max()))
        count = int(self.token_counts[chosen].max())
        lengths = torch.tensor(self.lengths[chosen], device=self.device)
        item_counts = torch.tensor(self.item_counts[chosen], device=self.device)
        token_counts = torch.tensor(self.token_counts[chosen], device=self.device)
        pieces, parts, types, marks = (
            x[at, :length].long() for x in (self.pieces, self.parts, self.types, self.marks)
        )
        if blur is not None:
            draw = torch.rand((3, *pieces.shape), generator=blur, device=self.device)
            marks = torch.where(draw[0] < _BLURRED, 0, marks)
            types = torch.where((draw[1] < _HIDDEN) & (parts == 0), 0, types)
            pieces = torch.where((draw[2] < _HIDDEN) & (parts < 7), self.unknown, pieces)
        real = torch.arange(length, device=self.device)[None] < lengths[:, None]
        starts, stops = self.starts[at, :items].long(), self.stops[at, :items].long()
        kinds, columns = self.kinds[at, :items].long(), self.columns[at, :items].long()
        there = torch.arange(items, device=self.device)[None] < item_counts[:, None]
        columns = torch.where(there, columns, -1)
        places = torch.arange(length, device=self.device)
        pool = ((places >= starts[..., None]) & (places < stops[..., None]) & there[..., None]).float()
        pool = pool / pool.sum(-1, keepdim=True).clamp(min=1)
        targets, states = self.targets[at, :count].long(), self.states[at, :count].long()
        written = torch.arange(count, device=self.device)[None] < token_counts[:, None]
        rules = self.allowed[states]
        of_kind = (
            torch.gather(rules[..., self.words :], 2, kinds[:, None, :].expand(-1, count, -1))
            & there[:, None, :]
        )
        allowed = torch.cat([rules[..., : self.words], of_kind], dim=2)
        before = torch.where(targets >= self.words, targets + 1, targets)[:, :-1]
        before = torch.cat([torch.full_like(targets[:, :1], self.words), before], dim=1)
        return {
            "pieces": pieces, "parts": parts, "types": types, "marks": marks, "real": real, "pool": pool,
            "columns": columns, "kinds": kinds, "before": before, "targets": targets, "written": written,
            "allowed": allowed,
        }  # fmt: skip


def batches(
    examples: Examples, chosen: np.ndarray, size: int, rng: np.random.Generator | None
) -> list[np.ndarray]:
    order = rng.permutation(chosen) if rng is not None else chosen
    found: list[np.ndarray] = []
    for at in range(0, len(order), size * _NEIGHBOURS):
        near = order[at : at + size * _NEIGHBOURS]
        near = near[np.argsort(examples.lengths[near], kind="stable")]
        found += [near[start : start + size] for start in range(0, len(near), size)]
    if rng is not None:
        rng.shuffle(found)
    return found


def measure(
    network: Network, examples: Examples, chosen: np.ndarray, size: int
) -> dict[str, dict[str, float]]:
    """How many sketches are right to the last token, choosing the likeliest at each."""
    network.eval()
    right: defaultdict[str, list[bool]] = defaultdict(list)
    with torch.no_grad(), torch.autocast("cuda", torch.bfloat16):
        for part in batches(examples, chosen, size, None):
            batch = examples.batch(part)
            best = network(batch).argmax(dim=2)
            whole = ((best == batch["targets"]) | ~batch["written"]).all(dim=1).tolist()
            for number, is_right in zip(part, whole, strict=True):
                right[SOURCES[examples.sources[number]]].append(is_right)
    network.train()
    return {
        name: {"count": len(each), "right": round(sum(each) / len(each), 4)} for name, each in right.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--size", type=int, default=384)
    parser.add_argument("--rate", type=float, default=2.5e-4)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--state", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", dest="start", type=Path, required=True, help="folder of weights")
    parser.add_argument(
        "--rounded", type=int, default=3, help="how many of the last epochs see rounded weights"
    )
    args = parser.parse_args()
    began = time.monotonic()
    torch.manual_seed(args.seed)
    # It makes a plan for every shape of a batch, which takes ten times as long as the attention itself.
    torch.backends.cuda.enable_cudnn_sdp(False)
    examples = Examples(args.folder, "cuda")
    start = {name: torch.tensor(value) for name, value in earlier_weights(args.start).items()}
    network = Network(start["piece.weight"].shape[0], examples.words)
    missing = network.load_state_dict(start, strict=False)
    assert not missing.unexpected_keys, missing.unexpected_keys
    network.cuda()
    fresh = [p for n, p in network.named_parameters() if n not in start]
    known = [p for n, p in network.named_parameters() if n in start]
    optimizer = torch.optim.AdamW(
        [{"params": known, "lr": args.rate}, {"params": fresh, "lr": 3 * args.rate}],
        weight_decay=0.01,
        fused=True,
    )
    training, tuning = np.flatnonzero(~examples.tune), np.flatnonzero(examples.tune)
    if len(tuning) > 6000:
        tuning = np.random.default_rng(0).permutation(tuning)[:6000]
    steps = args.epochs * math.ceil(len(training) / args.size)

    def pace(step: int) -> float:
        return min(1.0, (step + 1) / 600) * max(0.02, 1 - step / steps)

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, pace)
    averaged = {name: value.detach().clone() for name, value in network.state_dict().items()}
    done = 0
    epoch = 0
    figures: list[dict[str, object]] = []
    if args.state and args.state.exists():
        kept = torch.load(args.state, weights_only=False)
        network.load_state_dict(kept["network"])
        optimizer.load_state_dict(kept["optimizer"])
        schedule.load_state_dict(kept["schedule"])
        epoch, figures, averaged, done = kept["epoch"], kept["figures"], kept["averaged"], kept["done"]
    # The network's tensors are the same objects at every step, so that one call averages all of them.
    now, mean = list(network.state_dict().values()), list(averaged.values())
    print(f"{len(training)} examples, loaded in {time.monotonic() - began:.0f} s", flush=True)
    blur = torch.Generator("cuda").manual_seed(args.seed + epoch)
    longest = 0.0
    while epoch < args.epochs and time.monotonic() - began + longest < args.seconds:
        if epoch >= args.epochs - args.rounded:
            network.round_encoder()
        begun, total, seen = time.monotonic(), torch.zeros((), device="cuda"), 0
        for part in batches(examples, training, args.size, np.random.default_rng(args.seed * 1000 + epoch)):
            batch = examples.batch(part, blur)
            with torch.autocast("cuda", torch.bfloat16):
                scores = network(batch)
            taken = torch.gather(scores, 2, batch["targets"].unsqueeze(-1)).squeeze(-1)
            others = (scores * batch["allowed"]).sum(dim=2) / batch["allowed"].sum(dim=2).clamp(min=1)
            smooth = (1 - _SMOOTHED) * taken + _SMOOTHED * others
            loss = -(smooth * batch["written"]).sum() / batch["written"].sum()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            done += 1
            keep = min(_STEADY, done / (done + 10))
            with torch.no_grad():
                torch._foreach_lerp_(mean, now, 1 - keep)
            total, seen = total + loss.detach(), seen + 1
        epoch += 1
        last = {name: value.clone() for name, value in network.state_dict().items()}
        network.load_state_dict(averaged)
        found = measure(network, examples, tuning, args.size)
        network.load_state_dict(last)
        longest = max(longest, time.monotonic() - begun)
        figures.append({"epoch": epoch, "loss": round(float(total) / seen, 4), **found})
        print(f"epoch {epoch}: {time.monotonic() - begun:.0f} s, {json.dumps(figures[-1])}", flush=True)
        if args.state:
            torch.save(
                {
                    "network": network.state_dict(), "optimizer": optimizer.state_dict(), "averaged": averaged,
                    "schedule": schedule.state_dict(), "epoch": epoch, "figures": figures, "done": done,
                },
                args.state,
            )  # fmt: skip
    write_parts(args.out, {name: value.detach().cpu().numpy() for name, value in averaged.items()})
    (args.out / "figures.json").write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
