"""The function words of analyst questions. Nothing here names a dataset, a column or a value."""

from __future__ import annotations

from sandtable.planner.language.words import stem

LINKS = frozenset("of the a an 's in for on - / ( ) . and & is was were are been".split())
"""Words that may stand inside the name of a column as people say it: `number of the employees`."""

GENERIC = frozenset(
    stem(w)
    for w in "id name number code type date at on pct percent no min minutes hours seconds days kg km cm mm c s m "
    "million millions thousand mil u eur usd of the in per and is has was total value key flag text full by to for "
    "current a".split()
)
"""Words that hardly distinguish columns: a name is recognised without them."""

NEVER_VALUES = frozenset(
    "a an the of in on at to for from by with and or is are was were be been being do does did has have had what "
    "which who whom whose when where why how that this these those it its there their his her they he she as into "
    "than then if me give please can could would will many much all any each every i you we my our not no but so "
    "per vs show list find name top most least more less average mean sum total count number only also first last "
    "best worst yes if over under above below between after before since until during us am up out off one two "
    "three four five six seven eight nine ten same other highest lowest max min maximum minimum true false "
    "different unique distinct new old high low get go make some few share rate percentage percent day week month "
    "year quarter hour today yesterday date time sort order sorted ordered group grouped now".split()
)
"""Words that are a cell's value only when they are quoted, or written like the cell in capitals."""

WEAK_VALUES = frozenset(
    "high low new old open closed true yes no first other all top normal free best".split()
)
"""Words of the list above, and others, that are values when a column holds them and nothing else fits."""

FILLER = frozenset(
    NEVER_VALUES
    | set(
        "hi hello hey thanks thank tell us let know want need like wonder wondering curious interested help kindly "
        "display present return report view see look looking provide print output compute calculate determine "
        "figure work query question answer explain describe identify retrieve fetch pull check according based "
        "regarding concerning about related relating relative respect respective respectively corresponding "
        "associated along together both either neither nor else such own around within without through throughout "
        "across among amongst against upon via toward towards because due while although though however therefore "
        "thus hence just even still yet already ever never always often usually really actually basically simply "
        "exactly approximately roughly overall altogether combined general generally typical typically usual "
        "currently present recorded listed shown given provided included contained mentioned reported noted "
        "stored available existing exist exists present found happen happened happens occur occurred occurs take "
        "takes took taken place come comes came coming goes going gone went make makes made making got getting gets "
        "put puts set sets use used uses using belong belongs belonging consist consists contain contains containing "
        "include includes including involve involved appear appears appeared remain remains fall falls fell fallen "
        "keep keeps kept become becomes became seem seems tend tends turn turned result results resulting "
        "data dataset table tables row rows record records entry entries column columns field fields value values "
        "database file information info detail details list lists listing lists thing things item-level kind kinds "
        "type types sort sorts case cases instance instances example way ways part parts amount level levels "
        "figure figures statistic statistics stats stat metric metrics measure measures result results output "
        "breakdown overview summary summarise summarize analysis analyse analyze insight chart plot graph "
        "visualise visualize visualization histogram bar line pie scatter diagram draw "
        "i'd i'm i've we'd we're what's who's where's how's it's that's let's don't doesn't didn't isn't aren't "
        "wasn't weren't hasn't haven't can't couldn't won't wouldn't whats s t d ll re ve m "
        "one's someone anyone everyone something anything everything nothing none next previous another "
        "different various several multiple single individual separate whole entire full complete certain "
        "particular specific following above-mentioned total totals times time ones people's must should may might "
        "shall cannot ought had having being whether per unless except excluding besides apart instead rather quite "
        "very too much more most less least few fewer many lot lots plenty bit some any no yes ok okay well oh "
        "actual really ranked ranking ranks rank sorted sort order ordered ordering arranged arrange "
        "ascending descending increasing decreasing alphabetical alphabetically highest lowest greatest largest "
        "smallest biggest fewest higher lower larger smaller bigger greater maximum minimum max min top bottom "
        "ever yet still ago far long short old tall big small large great good bad better worse best worst "
        "did does doing done say says said give gives gave given do to be been are is was were am "
        "each every all only also again once twice than then there here where when why how what who whom whose "
        "which please can could would will and or but if so as at by for from in into of off on out over under up "
        "with the a an it its this that these those i me my we our you your he him his she her they them their "
        "have has get work works working compare compared comparing comparison versus vs between difference "
        "split grouped group grouping broken down divided run runs ran name names named called title titled "
        "corresponds respectively equal equals equalling equaling same similar exceed exceeds exceeding "
        "least last latest recent recently first earliest newest oldest "
        "share fraction proportion percentage percent rate ratio distribution frequency common frequent often "
        "popular number count counts counting amount sum average mean median standard deviation percentile "
        "quantile variance unique distinct true false possible able ratio times plus minus multiplied "
        "month months week weeks day days year years quarter quarters hour hours minute minutes date dates "
        "currently today now yesterday ever since until till during before after "
        "responsible account accounts accounted represent represents hold holds held holding "
        "performed perform performs performing score-wise occurring present side "
        "seen look looks needed required requires require wise level-wise versus roughly fit fits "
        "unusual anomaly anomalies anomalous outlier outliers abnormal zscore z score-based correlation "
        "correlate correlated relationship running cumulative growth grow grew growing change changed changes "
        "increase increased decrease decreased trend trends evolve evolved evolution over develop developed "
        "missing empty blank null lacking lack lacks unknown absent further additionally again back "
        "terms term basis respect regard final".split()
    )
)
"""Words that need no explanation by the data."""

AGGREGATES: dict[str, str] = {
    "average": "avg", "averages": "avg", "avg": "avg", "mean": "avg", "averaged": "avg",
    "total": "sum", "sum": "sum", "totals": "sum", "combined": "sum", "overall": "sum", "summed": "sum",
    "cumulated": "sum", "altogether": "sum",
    "median": "median", "medians": "median",
    "maximum": "max", "max": "max", "peak": "max", "minimum": "min", "min": "min",
    "stddev": "stddev", "std": "stddev", "stdev": "stddev",
}  # fmt: skip

MOST: frozenset[str] = frozenset(
    "most highest largest greatest biggest maximum max top best longest oldest latest newest heaviest tallest "
    "richest fastest strongest hottest warmest busiest deepest widest steepest loudest thickest wealthiest "
    "priciest costliest hardest highest-rated brightest".split()
)
LEAST: frozenset[str] = frozenset(
    "least lowest smallest fewest minimum min bottom worst shortest youngest earliest lightest cheapest slowest "
    "poorest weakest coldest coolest quietest rarest thinnest narrowest shallowest".split()
)

_PRICES = "price cost fee fare rent amount bill"

IMPLIED: dict[str, tuple[str, bool]] = {
    # superlative or comparative → words of the columns it refers to, and whether more of it is more
    "oldest": ("age", True), "older": ("age", True), "old": ("age", True),
    "youngest": ("age", False), "younger": ("age", False), "young": ("age", False),
    "longest": ("length duration runtime distance minutes time pages", True),
    "longer": ("length duration runtime distance minutes time pages", True),
    "long": ("length duration runtime distance minutes time pages", True),
    "shortest": ("length duration runtime distance height minutes time pages", False),
    "shorter": ("length duration runtime distance height minutes time pages", False),
    "short": ("length duration runtime distance height minutes time pages", False),
    "tallest": ("height elevation", True), "taller": ("height elevation", True), "tall": ("height elevation", True),
    "heaviest": ("weight mass", True), "heavier": ("weight mass", True), "heavy": ("weight mass", True),
    "lightest": ("weight mass", False), "lighter": ("weight mass", False),
    "cheapest": (_PRICES, False), "cheaper": (_PRICES, False),
    "cheap": (_PRICES, False),
    "priciest": (_PRICES, True), "costliest": (_PRICES, True),
    "expensive": (_PRICES, True), "pricey": (_PRICES, True),
    "costly": (_PRICES, True), "cost": (_PRICES, True),
    "latest": ("date time year", True), "newest": ("date time year", True), "newer": ("date time year", True),
    "recent": ("date time year", True), "recently": ("date time year", True), "later": ("date time year", True),
    "earliest": ("date time year", False), "earlier": ("date time year", False),
    "richest": ("worth wealth income salary earning revenue", True),
    "wealthiest": ("worth wealth income salary earning revenue", True),
    "richer": ("worth wealth income salary earning", True), "wealthier": ("worth wealth income salary earning", True),
    "poorer": ("worth wealth income salary earning", False),
    "poorest": ("worth wealth income salary earning revenue", False),
    "fastest": ("speed velocity pace", True), "faster": ("speed velocity", True), "fast": ("speed velocity", True),
    "slowest": ("speed velocity", False), "slower": ("speed velocity", False),
    "hottest": ("temperature", True), "warmest": ("temperature", True), "hotter": ("temperature", True),
    "warmer": ("temperature", True), "hot": ("temperature", True),
    "coldest": ("temperature", False), "coolest": ("temperature", False), "colder": ("temperature", False),
    "populous": ("population", True), "populated": ("population", True),
    "paid": ("salary wage pay compensation", True), "far": ("distance", True), "farthest": ("distance", True),
    "deepest": ("depth", True), "deep": ("depth", True), "profitable": ("profit margin", True),
    "rated": ("rating score stars", True), "successful": ("revenue gross profit sales", True),
    "popular": ("popularity votes rating", True), "viewed": ("views viewers", True),
    "watched": ("viewers views audience", True),
    "weigh": ("weight", True), "attended": ("attendance", True), "spacious": ("area size sqft", True),
    "experienced": ("experience years", True), "dense": ("density", True), "humid": ("humidity", True),
    "urgent": ("urgency priority", True), "powerful": ("power horsepower", True),
    "biggest": ("size area population", True), "largest": ("size area population", True),
    "smallest": ("size area population", False), "bigger": ("size area", True), "smaller": ("size area", False),
    "earn": ("salary wage pay income earning compensation", True),
    "earns": ("salary wage pay income earning compensation", True),
    "earning": ("salary wage pay income compensation", True), "makes": ("salary wage pay income", True),
    "costs": (_PRICES, True), "costing": (_PRICES, True),
    "weighs": ("weight", True), "weighing": ("weight", True), "lasted": ("duration length minutes time", True),
    "lasting": ("duration length minutes time", True), "priced": ("price cost fee fare rent", True),
    "aged": ("age", True), "big": ("size area population", True), "large": ("size area population", True),
    "high": ("height elevation altitude", True), "higher": ("height elevation altitude", True),
    "highest": ("height elevation altitude", True), "lowest": ("height elevation altitude", False),
    "lower": ("height elevation altitude", False), "cold": ("temperature", False),
    "valued": ("value price worth", True),
}  # fmt: skip

OLDEST_BY_DATE: dict[str, bool] = {"oldest": False, "older": False, "youngest": True, "younger": True}
"""With a date of birth, founding or installing instead of an age: whether later means more of it."""

WH_COLUMNS: dict[str, str] = {
    "who": "name person player winner driver author director employee customer owner artist candidate agent "
    "officer writer user host teacher doctor opponent",
    "where": "location place venue city country site stadium address region state",
    "when": "date time year day",
}
"""Question words and the columns they may ask for, the likelier first."""

COMMON = frozenset("common frequent often frequently commonly popular prevalent".split())
GROUP_MARKERS = (
    "broken down by", "grouped by", "group by", "split by", "segmented by", "aggregated by", "for each of the",
    "for each", "for every", "in each", "in every", "at each", "of each", "of every", "by each", "per each",
    "on each", "from each", "within each", "by whether", "depending on", "across all", "across the", "across",
    "per", "by", "each", "every", "according to", "as a function of", "among the different",
)  # fmt: skip
ORDER_MARKERS = (
    "sorted by", "sort by", "ordered by", "order by", "ranked by", "rank by", "arranged by", "in order of",
    "sort them by", "order them by", "sorted on", "sort on", "rank them by", "ordering by",
)  # fmt: skip

RELATING = frozenset(
    stem(w)
    for w in "play played work works live lives earn earns locate located situated base based belong make made "
    "produce produced serve serves host hosts attend attended participate compete score scored star starred feature "
    "featured appear released release publish published found founded establish established born hire hired employ "
    "employed join joined study studied graduate graduated visit visited stay stayed travel ran finish finished "
    "start started begin ended end weigh weighs measure measured rate rated placed place bought buy sold sell order "
    "ordered ship shipped record recorded register registered receive received spend spent pay paid sign signed "
    "represent represented reach reached achieve achieved obtain obtained own owned owns offer offered use built "
    "build construct constructed open opened run held take took written write directed direct created create "
    "design designed handle handled assign assigned submit submitted file filed come originate lead leads led show "
    "shows stand stands stood live lived lay lies share "
    "cover covers covered deal deals dealt grow grew need bring brought bear wear drive "
    "drove driven fly flew sail teach taught learn train trained carry carried count provide enter entered "
    "capture captured contribute face faced meet "
    "generate generated post posted bill billed allow allowed want call rank".split()
)
"""Verbs that only link the nouns of a question: they may stay unexplained, at a small cost."""

ROW_NOUNS = frozenset(
    stem(w)
    for w in "rows records entries observations cases lines items people persons individuals "
    "things ones instances members everybody everyone anybody".split()
)
"""Nouns that may stand for the rows of any table."""
