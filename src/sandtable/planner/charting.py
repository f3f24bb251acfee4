"""The chart that a message asks for: `as a stacked bar`, `line chart of …`, `no chart`.

A wish is found inside a question (`wish_in`), where a word such as `line` counts only beside `chart` or after `as`,
or is a whole message (`wish_alone`), where `pie` is enough. Pure: whether the rows can be shown so is checked later.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sandtable.plan.model import ChartKind
from sandtable.planner.language.reading import Reading
from sandtable.planner.schema.entries import Json
from sandtable.planner.schema.index import SchemaIndex

_PICTURE = r"(?:charts?|graphs?|plots?|diagrams?)"
_LOOK = (
    r"(?:stacked|grouped|clustered|horizontal|vertical|upright|lying|simple|plain|nice|normal|bigger|coloured"
    r"|100 (?:%|percent|per cent)|100(?= stacked)|normali[sz]ed)"
)
_DRAWN = r"(?:bars?|columns?|lines?|pies?|donuts?|doughnuts?|rings?|scatters?|histograms?|heat(?: -)? ?maps?|points)"
_NOT_DRAWN = (
    r"(?:areas?|radars?|spiders?|tree ?maps?|sunbursts?|funnels?|waterfalls?|bubbles?|box(?:es)?|violins?|gauges?"
    r"|candlesticks?|sankeys?|gantts?|polar|3d|step|mosaic|pareto|geographic)"
)
_ONE_WORD = (
    r"(?:(?:bar|line|pie|column|scatter|area|box|bubble|donut)(?:charts?|graphs?|plots?)|histograms?"
    r"|heat(?: -)? ?maps?|treemaps?|sunbursts?)"
)
_NAMED = rf"(?:{_LOOK} )*(?:(?:{_DRAWN}|{_NOT_DRAWN})(?: {_LOOK})?(?: -)? {_PICTURE}|{_ONE_WORD})"
"""Kinds whose names have no other meaning."""
_BARE = rf"(?:{_NAMED}|(?:{_LOOK} )*(?:{_DRAWN}|areas?|tree ?maps?|bubbles?)|(?:{_LOOK} )+{_PICTURE})"
_TABLE = r"(?:(?:plain|simple|normal) )?(?:tables?(?: format| form| only)?|tabular form(?:at)?)"
_NO_CHART = (
    rf"(?:(?:with )?no|without(?: an?| any| the)?|hide the|drop the|skip the|remove the) {_PICTURE}"
    r"|(?:only|just) (?:the|an?) table|table only"
)
_LOG = r"(?:on |with |in |using |at )?(?:an? |the )?log(?:arithmic)?(?: -)? (?:scale|(?:y |x )?axis)"
_END = (
    r"(?=$| [,.;:?!)]| (?:please|pls|instead|rather|now|then|thanks|and|for|with|sorted|ordered|only)(?: |$))"
)
_THE = r"(?:an? |the |some )?"

_WITHIN: tuple[re.Pattern[str], ...] = (
    re.compile(
        rf"(?:(?:displayed|shown|drawn|plotted|visuali[sz]ed|presented) )?(?:as|into) {_THE}{_BARE}{_END}"
    ),
    re.compile(rf"(?:in|with|using|on|via) {_THE}{_NAMED}{_END}"),
    re.compile(rf"(?:as|in|into) {_THE}{_TABLE}{_END}"),
    re.compile(_NO_CHART),
    re.compile(_LOG),
    re.compile(
        rf"(?:(?:draw|plot|show|make|give|create|display|generate|build|want|need|see|produce)(?: me| us)? )?"
        rf"{_THE}{_NAMED}(?: (?:of|for|showing|comparing|that shows|which shows|about|on))?"
    ),
)
_SHOW = (
    r"(?:(?:can|could|would) (?:you|i|we) )?"
    r"(?:(?:(?:i|we) (?:want|need|would like|prefer)|i'd (?:like|prefer))(?: to)? )?"
    r"(?:(?:show|make|draw|plot|put|turn|give|display|do|see|have|get|use|switch|change|convert|redraw|present"
    r"|visuali[sz]e|try)(?: me| us)?"
    r"(?: (?:it|that|this|them|those|these|the (?:chart|graph|plot|result|results|data|answer|same)))?"
    r"(?: (?:rather|instead))? )?"
)
_ALONE = re.compile(
    rf"{_SHOW}(?:(?:as|in|into|to|with|on|like) )?{_THE}(?:{_BARE}|{_TABLE}|(?:{_NOT_DRAWN} )?{_PICTURE})"
    rf"(?: (?:instead|rather|again|now|then|stacked|grouped|horizontal(?:ly)?|vertical(?:ly)?|if possible"
    r"|would be (?:better|nice|good|great)))*"
    rf"|{_SHOW}(?:(?:as|to) )?(?:stacked|grouped|clustered|horizontal(?:ly)?|vertical(?:ly)?|upright|lying)"
    rf"|(?:show |make |draw |use )?(?:it |that )?{_LOG}|{_SHOW}(?:{_NO_CHART})"
    r"|(?:draw|plot|graph|chart|visuali[sz]e) (?:it|that|this|them|those)"
)
_FIRST = re.compile(
    r"^(?:(?:and|but|so|ok|okay|no|now|then|well|hmm|actually|great|thanks|alright|yes|cool|nice|please|maybe) )+"
    r"(?:(?:what|how) about )?|^(?:what|how) about "
)
_LAST = re.compile(r"(?: (?:please|pls|thanks|though))+$")
_KINDS: tuple[tuple[str, ChartKind], ...] = (
    (r"table|tabular|\bno\b|without|hide|drop|skip|remove", "none"),
    (r"pie|donut|doughnut|ring", "pie"),
    (r"heat", "heatmap"),
    (r"histogram", "histogram"),
    (r"scatter|points", "scatter"),
    (r"line", "line"),
    (r"stacked", "stacked_bar"),
    (r"horizontal|lying", "horizontal_bar"),
    (r"column|vertical|upright", "column"),
    (r"bar|grouped|clustered", "bar"),
)
_UNKNOWN = re.compile(rf"\b(?:{_NOT_DRAWN}|(?:area|box|bubble)(?:chart|graph|plot)s?)\b|\blog(?:arithmic)?\b")


@dataclass(frozen=True, slots=True)
class Wish:
    kind: ChartKind | None
    """None: any chart that fits, or a kind that is not supported."""
    start: int
    end: int
    """Places of its words in `Reading.of(question).words`, the end excluded."""
    unknown: str = ""
    """What was asked for and cannot be drawn, in the words of the question."""

    @property
    def remark(self) -> str:
        if not self.unknown:
            return ""
        return f"There is no {self.unknown} here, so the chart is drawn without it"


def wish_in(question: str, index: SchemaIndex | None = None) -> Wish | None:
    """The chart request inside a question. With an index, a value of the data is not taken for one."""
    reading = Reading.of(question)
    for pattern in _WITHIN:
        for start, end, found in reading.find(pattern):
            said = found.group()
            if index is not None and index.find_value(said):
                continue
            return _wish(said, start, end)
    return None


def wish_alone(question: str, index: SchemaIndex | None = None) -> Wish | None:
    """The chart request of a message that is only about the chart."""
    text = _alone_text(question)
    if text is None or (index is not None and index.find_value(text)):
        return None
    return _wish(text, 0, len(Reading.of(question)))


def is_about_chart(question: str) -> bool:
    return _alone_text(question) is not None


def _alone_text(question: str) -> str | None:
    """The words of a message that is about the chart alone, without punctuation and polite phrases."""
    words = [word.lower for word in Reading.of(question).words if not word.is_symbol]
    bare = " ".join(words)
    without = _LAST.sub("", _FIRST.sub("", bare))
    return next((text for text in (bare, without) if _ALONE.fullmatch(text)), None)


def _wish(said: str, start: int, end: int) -> Wish:
    unknown = _UNKNOWN.search(said)
    if unknown is not None:
        name = "logarithmic scale" if unknown.group().startswith("log") else f"{unknown.group()} chart"
        return Wish(None, start, end, name.replace("s chart", " chart"))
    return Wish(next((kind for words, kind in _KINDS if re.search(words, said)), None), start, end)


def without_wish(question: str, wish: Wish) -> str:
    """The question without its chart request. A scatter plot or a histogram of something also says what is asked."""
    reading = Reading.of(question)
    said = reading.written(wish.start, wish.end).lower()
    if wish.kind in ("scatter", "histogram") and not said.startswith(
        ("as ", "in ", "with ", "using ", "into ")
    ):
        return question
    before = question[: reading.words[wish.start].start].rstrip(" ,;:(-")
    after = question[reading.words[wish.end - 1].end :].lstrip(" ,;:)-")
    return f"{before} {after}".strip()


def drawn_as(plan: Json, wish: Wish) -> Json:
    """The plan with the requested chart; an unsupported one changes nothing."""
    if wish.unknown:
        return plan
    kept = {field: value for field, value in plan.items() if field != "chart"}
    return {**kept, "chart": wish.kind} if wish.kind is not None else kept
