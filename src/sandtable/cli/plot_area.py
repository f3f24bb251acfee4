"""Lines and points on a grid of characters, between two axes.

One series is drawn in Braille, eight dots to a character; several have a mark each, since colour may be missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import pairwise
from typing import Any

from rich.cells import cell_len

HEIGHT = 12
_LEAST_ACROSS = 10
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_AXES = {True: ("┤", "└", "─"), False: ("|", "+", "-")}

Line = list[tuple[str, int | None]]
"""Pieces of text with the number of the series they belong to."""


@dataclass(frozen=True, slots=True)
class Series:
    xs: list[Any]
    ys: list[float | None]
    joined: bool
    mark: str


Point = tuple[float, float]


def draw_area(
    series: Sequence[Series],
    width: int,
    said: Callable[[float], str],
    called: Callable[[Any], str],
    *,
    blocks: bool,
) -> list[Line]:
    """`said` formats an amount. `called` gives the label of an x."""
    places = _places([x for one in series for x in one.xs])
    courses = [_course(one, places) for one in series]
    points = [point for course in courses for part in course for point in part]
    if not points:
        return []
    frame = _Frame.around(points)
    labels = [said(frame.top), said((frame.top + frame.bottom) / 2), said(frame.bottom)]
    margin = max(map(cell_len, labels))
    across = width - margin - 2
    if across < _LEAST_ACROSS:
        return []
    fine = blocks and len(series) == 1
    drawn = (
        _dots(courses[0], series[0], frame, across)
        if fine
        else _marked(courses, series, frame, across, blocks)
    )
    side, corner, floor = _AXES[blocks]
    lines: list[Line] = []
    for row, cells in enumerate(drawn):
        text = {0: labels[0], HEIGHT // 2: labels[1], HEIGHT - 1: labels[2]}.get(row, "")
        lines.append([(" " * (margin - cell_len(text)) + text + f" {side}", None), *cells])
    lines.append([(" " * margin + f" {corner}" + floor * across, None)])
    lines.append([(_ends(series, places, called, margin + 2, width), None)])
    return lines


@dataclass(frozen=True, slots=True)
class _Frame:
    left: float
    right: float
    bottom: float
    top: float

    @classmethod
    def around(cls, points: Sequence[Point]) -> _Frame:
        xs, ys = [x for x, _ in points], [y for _, y in points]
        bottom, top = min(ys), max(ys)
        # From zero, unless all values are far from it: a small change must not look like a collapse.
        if 0 < bottom < top / 2:
            bottom = 0.0
        return cls(min(xs), max(xs), bottom, top)

    def at(self, point: Point, across: int, down: int) -> tuple[int, int]:
        """Column and row, from the top left."""
        x = _share(point[0], self.left, self.right)
        y = _share(point[1], self.bottom, self.top)
        return round(x * (across - 1)), round((1 - y) * (down - 1))


def _share(value: float, low: float, high: float) -> float:
    span = high - low
    return (value - low) / span if span > 0 and math.isfinite(span) else 0.5


def _places(xs: list[Any]) -> dict[Any, float]:
    """The position of each x: numbers and times at their value, anything else one after the other."""
    kept = [x for x in xs if isinstance(x, str | int | float)]
    for reading in (_as_number, _as_moment):
        found = {x: reading(x) for x in kept}
        if found and None not in found.values():
            return {x: at for x, at in found.items() if at is not None}
    return {x: float(number) for number, x in enumerate(dict.fromkeys(kept))}


def _as_number(x: Any) -> float | None:
    if isinstance(x, bool) or not isinstance(x, int | float):
        return None
    return float(x) if abs(x) < 1e300 else None


def _as_moment(x: Any) -> float | None:
    if not isinstance(x, str) or len(x) < 7:
        return None
    try:
        if len(x) <= 10:
            return datetime.combine(
                date.fromisoformat(f"{x}-01" if len(x) == 7 else x), datetime.min.time(), UTC
            ).timestamp()
        moment = datetime.fromisoformat(x)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _course(one: Series, places: dict[Any, float]) -> list[list[Point]]:
    """The points of a line, in segments: an empty value breaks the line."""
    pieces: list[list[Point]] = [[]]
    for x, y in zip(one.xs, one.ys, strict=False):
        place = places.get(x) if isinstance(x, str | int | float) else None
        if place is None or y is None:
            pieces.append([])
        else:
            pieces[-1].append((place, y))
    return [piece for piece in pieces if piece]


def _walk(
    course: list[list[Point]], joined: bool, frame: _Frame, across: int, down: int
) -> Iterator[tuple[int, int]]:
    for piece in course:
        spots = [frame.at(point, across, down) for point in piece]
        yield from spots
        if joined:
            for before, after in pairwise(spots):
                yield from _between(before, after)


def _between(one: tuple[int, int], other: tuple[int, int]) -> Iterator[tuple[int, int]]:
    steps = max(abs(other[0] - one[0]), abs(other[1] - one[1]))
    for step in range(1, steps):
        yield (
            round(one[0] + (other[0] - one[0]) * step / steps),
            round(one[1] + (other[1] - one[1]) * step / steps),
        )


def _dots(course: list[list[Point]], one: Series, frame: _Frame, across: int) -> list[Line]:
    grid = [[0] * across for _ in range(HEIGHT)]
    for x, y in _walk(course, one.joined, frame, 2 * across, 4 * HEIGHT):
        grid[y // 4][x // 2] |= _DOTS[y % 4][x % 2]
    return [[("".join(chr(0x2800 + dots) if dots else " " for dots in row), 0)] for row in grid]


def _marked(
    courses: list[list[list[Point]]], series: Sequence[Series], frame: _Frame, across: int, blocks: bool
) -> list[Line]:
    grid: list[list[tuple[str, int | None]]] = [[(" ", None)] * across for _ in range(HEIGHT)]
    for number, (course, one) in enumerate(zip(courses, series, strict=True)):
        if one.joined:
            for x, y in _walk(course, True, frame, across, HEIGHT):
                if grid[y][x][1] is None:
                    grid[y][x] = ("·" if blocks else ".", number)
    for number, (course, one) in enumerate(zip(courses, series, strict=True)):
        for x, y in _walk(course, False, frame, across, HEIGHT):
            grid[y][x] = (one.mark, number)
    return [list(row) for row in grid]


def _ends(
    series: Sequence[Series], places: dict[Any, float], called: Callable[[Any], str], margin: int, width: int
) -> str:
    """The first and the last x under the axis, as far as there is room."""
    known = sorted((x for one in series for x in one.xs if x in places), key=lambda x: places[x])
    first, last = (called(x) for x in (known[0], known[-1]))
    room = width - margin
    if cell_len(first) + cell_len(last) + 1 > room:
        return ""
    return " " * margin + first + " " * (room - cell_len(first) - cell_len(last)) + last
