"""The decoder of the network: writes sketches token by token, by beam search.

It is small (two layers of 256), so it runs on numpy; the encoder before it is the large part and runs on onnxruntime.
Only tokens that the grammar allows, and columns that the table reaches, are ever considered.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sandtable.planner.candidates.network.inputs import Inputs
from sandtable.planner.candidates.network.sketch import (
    BETWEEN_COLUMNS,
    ELAPSED,
    KINDS,
    LONGEST,
    OF_TWO,
    WORDS,
    Token,
    Writer,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float32]

HEADS = 4
BEAM = 6
_NUMBERS = {word: number for number, word in enumerate(WORDS)}
_OF_TWO = frozenset(_NUMBERS[word] for word in (*OF_TWO, *BETWEEN_COLUMNS, *ELAPSED, "corr"))
"""Words before two columns, which are never the same one."""
_INSIDE = frozenset({_NUMBERS["exists"], _NUMBERS["at_least"]})
"""After these words the plan also reads another table."""
_KINDS = {kind: number for number, kind in enumerate(KINDS)}


@dataclass(frozen=True, slots=True)
class Written:
    """A sketch and how likely it is: the logarithms of its probability and of that of each token."""

    sketch: tuple[Token, ...]
    likelihood: float
    logs: tuple[float, ...]


@dataclass(slots=True)
class _Line:
    """An unfinished sketch."""

    writer: Writer
    tokens: tuple[int, ...]
    likelihood: float
    logs: tuple[float, ...]


class _Choices:
    """Which tokens may come next, as numbers: words first, then items. Lines in the same state share the result."""

    def __init__(self, made: Inputs, reach: Mapping[str, frozenset[str]], np: Any) -> None:
        self._np = np
        self._reach = reach
        self._tables = [
            p.item.table if p.item.kind in {"table", "column", "value"} else "" for p in made.items
        ]
        self._kinds = [f"<{p.item.kind}>" for p in made.items]
        self._known: dict[tuple[frozenset[str], str | None, bool], Any] = {}

    def after(self, line: _Line) -> Any:
        allowed = line.writer.allowed()
        first = line.tokens[0] - len(WORDS) if line.tokens else -1
        home = self._tables[first] if first >= 0 else None
        inside = any(token in _INSIDE for token in line.tokens)
        key = (allowed, home, inside)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._places(allowed, home, inside)
        if len(line.tokens) > 1 and line.tokens[-2] in _OF_TWO:
            return found[found != line.tokens[-1]]
        return found

    def _places(self, allowed: frozenset[str], home: str | None, inside: bool) -> Any:
        within = None if home is None else self._reach.get(home)
        places = [_NUMBERS[each] for each in sorted(allowed) if each in _NUMBERS]
        for at, kind in enumerate(self._kinds):
            if kind in allowed and (within is None or inside or self._is_reached(at, within)):
                places.append(len(WORDS) + at)
        return self._np.array(places, dtype=self._np.int64)

    def _is_reached(self, at: int, within: frozenset[str]) -> bool:
        """Whether the plan's table may use this item."""
        return self._kinds[at] not in {"<column>", "<value>"} or self._tables[at] in within


class Decoder:
    def __init__(self, weights: Mapping[str, Array]) -> None:
        import numpy

        self.np = numpy
        self.w = weights
        self.layers = sorted({int(name.split(".")[1]) for name in weights if name.startswith("deep.")})

    def write(self, made: Inputs, memory: Array, reach: Mapping[str, frozenset[str]]) -> list[Written]:
        """The likeliest sketches, best first; `reach` names for each table those whose columns it may use."""
        np, w = self.np, self.w
        things = self._things(made, memory)
        # (x W + b) · thing = x · (W thing) + b · thing
        keys = things @ w["pointed.weight"].T
        offsets = things @ w["pointed.bias"]
        cross = [
            (self._keys(memory, f"deep.{n}.ck"), self._values(memory, f"deep.{n}.cv")) for n in self.layers
        ]
        choices = _Choices(made, reach, np)
        count = len(WORDS)
        lines = [_Line(Writer(), (), 0.0, ())]
        done: list[_Line] = []
        cache: list[tuple[Array, Array]] = [
            (np.zeros((1, 0, w["deep.0.k.bias"].shape[0]), np.float32),) * 2 for _ in self.layers
        ]
        before = w["word.weight"][count][None, :]
        for step in range(LONGEST):
            x = before + w["step.weight"][step]
            for n in self.layers:
                x, cache[n] = self._layer(n, x, cache[n], cross[n])
            x = self._norm(x, "last")
            scores = np.concatenate(
                [
                    x @ w["word.weight"][:count].T + w["bias"][:count],
                    (x @ keys.T + offsets) / math.sqrt(x.shape[1]),
                ],
                axis=1,
            )
            lines, parents, finished = self._extended(lines, scores, made, choices)
            done += finished
            if not lines or (len(done) >= BEAM and _best_end(done) > lines[0].likelihood):
                break
            before = np.stack(
                [
                    w["word.weight"][t] if (t := line.tokens[-1]) < count else things[t - count]
                    for line in lines
                ]
            )
            cache = [(k[parents], v[parents]) for k, v in cache]
        return _merged(done, made)

    def _extended(
        self, lines: list[_Line], scores: Array, made: Inputs, choices: _Choices
    ) -> tuple[list[_Line], list[int], list[_Line]]:
        np = self.np
        count = len(WORDS)
        options: list[tuple[float, int, int, float]] = []
        for number, line in enumerate(lines):
            places = choices.after(line)
            if not len(places):
                continue
            row = scores[number, places]
            top = float(row.max())
            logs = row - (top + math.log(float(np.exp(row - top).sum())))
            if len(places) > 2 * BEAM:
                best = np.argpartition(logs, -2 * BEAM)[-2 * BEAM :]
                places, logs = places[best], logs[best]
            options += [
                (line.likelihood + log, number, place, log)
                for place, log in zip(places.tolist(), logs.tolist(), strict=True)
            ]
        options.sort(reverse=True)
        grown: list[_Line] = []
        parents: list[int] = []
        finished: list[_Line] = []
        for likelihood, number, place, log in options[: 2 * BEAM]:
            line = lines[number]
            token: Token = WORDS[place] if place < count else made.items[place - count].item
            next_line = _Line(line.writer.after(token), (*line.tokens, place), likelihood, (*line.logs, log))
            if next_line.writer.done:
                finished.append(next_line)
            elif len(grown) < BEAM:
                grown.append(next_line)
                parents.append(number)
        return grown, parents, finished

    def _things(self, made: Inputs, memory: Array) -> Array:
        """Items as vectors: the mean of their pieces; a value is that and its column."""
        np, w = self.np, self.w
        means = np.stack([memory[p.start : max(p.end, p.start + 1)].mean(axis=0) for p in made.items])
        means = means @ w["thing.weight"] + w["thing.bias"]
        kinds = w["kind.weight"][[_KINDS[p.item.kind] for p in made.items]]
        columns = np.array([p.column for p in made.items])
        return means + means[columns.clip(min=0)] * (columns >= 0)[:, None] + kinds

    def _layer(
        self, n: int, x: Array, cache: tuple[Array, Array], cross: tuple[Array, Array]
    ) -> tuple[Array, tuple[Array, Array]]:
        np = self.np
        h = self._norm(x, f"deep.{n}.n1")
        keys = np.concatenate([cache[0], self._linear(h, f"deep.{n}.k")[:, None]], axis=1)
        values = np.concatenate([cache[1], self._linear(h, f"deep.{n}.v")[:, None]], axis=1)
        x = x + self._linear(self._attended(self._linear(h, f"deep.{n}.q"), keys, values), f"deep.{n}.o")
        h = self._norm(x, f"deep.{n}.n2")
        x = x + self._linear(self._looked(self._linear(h, f"deep.{n}.cq"), *cross), f"deep.{n}.co")
        h = self._linear(self._norm(x, f"deep.{n}.n3"), f"deep.{n}.up")
        return x + self._linear(_gelu(h, np), f"deep.{n}.down"), (keys, values)

    def _attended(self, query: Array, keys: Array, values: Array) -> Array:
        """One query for each line over the tokens that the line has written."""
        np = self.np
        lines, width = query.shape
        size = width // HEADS
        q = query.reshape(lines, HEADS, 1, size)
        k = keys.reshape(keys.shape[0], keys.shape[1], HEADS, size).transpose(0, 2, 3, 1)
        v = values.reshape(values.shape[0], values.shape[1], HEADS, size).transpose(0, 2, 1, 3)
        scores = (q @ k) / math.sqrt(size)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        return (scores @ v).reshape(lines, width)

    def _keys(self, memory: Array, name: str) -> Array:
        """The keys of the question's pieces: for each head one column for each piece."""
        found = self._linear(memory, name)
        return self.np.ascontiguousarray(found.reshape(len(found), HEADS, -1).transpose(1, 2, 0))

    def _values(self, memory: Array, name: str) -> Array:
        found = self._linear(memory, name)
        return self.np.ascontiguousarray(found.reshape(len(found), HEADS, -1).transpose(1, 0, 2))

    def _looked(self, query: Array, keys: Array, values: Array) -> Array:
        """One query for each line over the question's pieces, which are the same for all lines."""
        np = self.np
        lines, width = query.shape
        q = query.reshape(lines, HEADS, -1).transpose(1, 0, 2)
        scores = (q @ keys) / math.sqrt(q.shape[2])
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        return (scores @ values).transpose(1, 0, 2).reshape(lines, width)

    def _linear(self, x: Array, name: str) -> Array:
        return x @ self.w[f"{name}.weight"] + self.w[f"{name}.bias"]

    def _norm(self, x: Array, name: str) -> Array:
        np, width = self.np, x.shape[-1]
        # What `mean` and `var` compute, without computing the mean twice.
        centred = x - np.add.reduce(x, axis=-1, keepdims=True) / width
        spread = np.add.reduce(centred * centred, axis=-1, keepdims=True) / width
        return centred / np.sqrt(spread + 1e-5) * self.w[f"{name}.weight"] + self.w[f"{name}.bias"]


def _best_end(done: list[_Line]) -> float:
    return max(line.likelihood for line in done)


def _merged(done: list[_Line], made: Inputs) -> list[Written]:
    """Equal sketches that point at different places of the question are one."""
    found: dict[tuple[Token, ...], Written] = {}
    for line in sorted(done, key=lambda each: -each.likelihood):
        tokens: tuple[Token, ...] = tuple(
            WORDS[t] if t < len(WORDS) else made.items[t - len(WORDS)].item for t in line.tokens
        )
        known = found.get(tokens)
        if known is None:
            found[tokens] = Written(tokens, line.likelihood, line.logs)
        else:
            both = math.log(math.exp(known.likelihood) + math.exp(line.likelihood))
            found[tokens] = Written(tokens, both, known.logs)
    return sorted(found.values(), key=lambda each: -each.likelihood)


def _gelu(x: Array, np: Any) -> Array:
    """The exact form, by a rational approximation of the error function (error below 1.5e-7)."""
    z = np.abs(x) / math.sqrt(2)
    t = 1 / (1 + 0.3275911 * z)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    made: Array = 0.5 * x * (1 + np.copysign(1 - poly * np.exp(-z * z), x))
    return made


__all__ = ["BEAM", "Decoder", "Written"]
