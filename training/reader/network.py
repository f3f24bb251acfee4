"""The network in PyTorch: BERT's encoder over question and dataset, and a small decoder that writes a sketch.

At each token of a sketch the decoder chooses among the words of the grammar and the items of the question, of which
only those count that the grammar allows. Names of weights are those of `weights.npz`, from which
`training.reader.export` makes what the product loads.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from training.reader.rounding import MOST, STEP

HIDDEN, LAYERS, HEADS, INNER = 384, 12, 12, 1536
WIDTH, STEPS, MIND, REST = 256, 2, 4, 512
LONGEST, PARTS, TYPES, MARKS, KINDS = 64, 11, 13, 64, 8


def attend(
    query: Tensor, key: Tensor, value: Tensor, heads: int, mask: Tensor | None, causal: bool = False
) -> Tensor:
    batch, length, width = query.shape

    def split(x: Tensor) -> Tensor:
        return x.view(batch, -1, heads, width // heads).transpose(1, 2)

    drawn = F.scaled_dot_product_attention(
        split(query), split(key), split(value), attn_mask=mask, is_causal=causal
    )
    return drawn.transpose(1, 2).reshape(batch, length, width)


def as_shipped(weight: Tensor) -> Tensor:
    """The weights rounded as `rounding` does; a change of a weight counts as if it were not."""
    with torch.no_grad():
        scale = STEP * weight.float().square().mean(dim=1, keepdim=True).sqrt().clamp(min=1e-8)
        near = (weight / scale).round().clamp(-MOST, MOST) * scale
    return weight + (near - weight).detach()


class Linear(nn.Linear):
    """Of the encoder: in the last epochs it computes with rounded weights."""

    is_rounded = False

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, as_shipped(self.weight) if self.is_rounded else self.weight, self.bias)


class EncoderLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = (Linear(HIDDEN, HIDDEN) for _ in range(4))
        self.n1, self.n2 = nn.LayerNorm(HIDDEN, eps=1e-12), nn.LayerNorm(HIDDEN, eps=1e-12)
        self.up, self.down = Linear(HIDDEN, INNER), Linear(INNER, HIDDEN)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = self.n1(x + self.drop(self.o(attend(self.q(x), self.k(x), self.v(x), HEADS, mask))))
        return self.n2(x + self.drop(self.down(F.gelu(self.up(x)))))


class DecoderLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.cq, self.co = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.ck, self.cv = nn.Linear(HIDDEN, WIDTH), nn.Linear(HIDDEN, WIDTH)
        self.n1, self.n2, self.n3 = (nn.LayerNorm(WIDTH) for _ in range(3))
        self.up, self.down = nn.Linear(WIDTH, REST), nn.Linear(REST, WIDTH)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        h = self.n1(x)
        x = x + self.drop(self.o(attend(self.q(h), self.k(h), self.v(h), MIND, None, causal=True)))
        h = self.n2(x)
        x = x + self.drop(self.co(attend(self.cq(h), self.ck(memory), self.cv(memory), MIND, mask)))
        return x + self.drop(self.down(F.gelu(self.up(self.n3(x)))))


class Network(nn.Module):
    def __init__(self, pieces: int, words: int) -> None:
        super().__init__()
        self.words = words
        self.piece = nn.Embedding(pieces, HIDDEN)
        self.place = nn.Embedding(256, HIDDEN)
        self.part, self.typed, self.mark = (
            nn.Embedding(PARTS, HIDDEN),
            nn.Embedding(TYPES, HIDDEN),
            nn.Embedding(MARKS, HIDDEN),
        )
        for added in (self.part, self.typed, self.mark):
            nn.init.normal_(added.weight, std=0.01)
        self.norm = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.layers = nn.ModuleList(EncoderLayer() for _ in range(LAYERS))
        self.kind = nn.Embedding(KINDS, WIDTH)
        self.thing = nn.Linear(HIDDEN, WIDTH)
        self.pointed = nn.Linear(WIDTH, WIDTH)
        self.word = nn.Embedding(words + 1, WIDTH)
        self.step = nn.Embedding(LONGEST + 1, WIDTH)
        nn.init.normal_(self.word.weight, std=0.05)
        nn.init.normal_(self.step.weight, std=0.05)
        nn.init.normal_(self.kind.weight, std=0.05)
        self.deep = nn.ModuleList(DecoderLayer() for _ in range(STEPS))
        self.last = nn.LayerNorm(WIDTH)
        self.bias = nn.Parameter(torch.zeros(words + 1))
        self.drop = nn.Dropout(0.1)

    def round_encoder(self) -> None:
        for module in self.modules():
            if isinstance(module, Linear):
                module.is_rounded = True

    def encode(self, pieces: Tensor, parts: Tensor, types: Tensor, marks: Tensor, real: Tensor) -> Tensor:
        places = torch.arange(pieces.shape[1], device=pieces.device)
        x = self.piece(pieces) + self.place(places) + self.part(parts) + self.typed(types) + self.mark(marks)
        x = self.drop(self.norm(x))
        mask = real[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        return x

    def things(self, memory: Tensor, pool: Tensor, columns: Tensor, kinds: Tensor) -> Tensor:
        """Items as vectors: the mean of their pieces; a value is that and its column."""
        mean = self.thing(torch.bmm(pool.to(memory.dtype), memory))
        has = (columns >= 0).unsqueeze(-1)
        of_column = torch.gather(mean, 1, columns.clamp(min=0).unsqueeze(-1).expand(-1, -1, WIDTH))
        return mean + of_column * has + self.kind(kinds)

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        """Log-probabilities of every word and item at every token, given the tokens before."""
        real = batch["real"]
        memory = self.encode(batch["pieces"], batch["parts"], batch["types"], batch["marks"], real)
        things = self.things(memory, batch["pool"], batch["columns"], batch["kinds"])
        count = batch["before"].shape[1]
        before = batch["before"]
        is_item = before > self.words
        said = self.word(before.clamp(max=self.words))
        at = (before - self.words - 1).clamp(min=0, max=things.shape[1] - 1)
        pointed = torch.gather(things, 1, at.unsqueeze(-1).expand(-1, -1, WIDTH))
        x = torch.where(is_item.unsqueeze(-1), pointed.to(said.dtype), said) + self.step(
            torch.arange(count, device=before.device)
        )
        x = self.drop(x)
        mask = real[:, None, None, :]
        for layer in self.deep:
            x = layer(x, memory, mask)
        x = self.last(x)
        words = x @ self.word.weight[: self.words].T + self.bias[: self.words]
        items = torch.bmm(self.pointed(x), things.transpose(1, 2).to(x.dtype)) / math.sqrt(WIDTH)
        scores = torch.cat([words.float(), items.float()], dim=2)
        return scores.masked_fill(~batch["allowed"], -1e4).log_softmax(dim=2)
