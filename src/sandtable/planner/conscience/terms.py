"""Words that require something of a plan, and words that do not. Nothing here names a dataset.

A word that is in none of these lists is a content word: something in the plan must be called that.
"""

from __future__ import annotations

from sandtable.catalog import measures
from sandtable.planner.language.lexicon import MONTHS, WEEKDAYS
from sandtable.planner.language.vocabulary import IMPLIED, LEAST, MOST, RELATING
from sandtable.planner.language.words import stem


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


# Words that say nothing about the plan.

ASIDE = _words(
    "a an the of to in on at for from with within into onto upon as and & is are was were be been being am do does "
    "did doing done has have had having that this these those it its there their theirs they them he him his she "
    "her hers i me my mine we us our ours you your yours who's what's where's how's it's that's let's whats i'd i'm "
    "i've we'd we're we've they're s t d ll re ve m hi hello hey thanks thank thx please pls plz kindly ok okay "
    "well oh so then also too just simply really actually basically quick quickly question wonder wondering curious "
    "interested help want wants wanted need needs needed like tell let know give gives show shows see look looking "
    "view display present return report print output list find get gets got getting fetch pull provide compute "
    "calculate determine identify retrieve check describe summarise summarize analyse analyze query answer could "
    "can would may might must if whether while although though however therefore via about regarding concerning "
    "across among amongst along together through throughout during which what whom whose how whatever any anyone "
    "anybody anything someone somebody something everyone everybody everything some all one ones thing things stuff "
    "way ways kind kinds sort sorts type types case cases example data dataset table tables row rows record records "
    "entry entries column columns field fields values database file sheet information info detail details figure "
    "figures statistic statistics stats stat metric metrics measure result results overview summary breakdown "
    "insight insights chart charts plot graph diagram visual visualise visualize visualization histogram bar bars "
    "line pie scatter dashboard deck slide board meeting draw happen happened happens occur occurred occurs exist "
    "exists existing belong belongs go goes going gone went come comes came coming take takes took taken make makes "
    "made making put puts keep keeps kept use used uses using work works working run runs ran hold holds held "
    "become turn turned seem seems serve serves served live lives living due plus include includes including "
    "included contain contains respective respectively corresponding according based ever exactly precisely "
    "approximately roughly around nearly almost even here such own another given listed shown recorded mentioned "
    "following out up down off back away quite very lot lots bit call called named titled etc hmm um there's place "
    "placed places side far able possible possibly bring brought split group grouped grouping sorted order ordered "
    "ordering arranged alphabetical alphabetically ascending descending name names full certain particular specific "
    "various several single individual whole entire complete said say says part parts level levels period periods "
    "time times day days number numbers count counts id ids code codes"
)

_TELLING_VERBS = _stems(
    "sell buy ship pay spend earn sign hire join submit file bill share rank rate order grow count star"
)
"""Verbs of business: they say which rows or which amount is meant."""
LIGHT_VERBS = (RELATING - _TELLING_VERBS) | _stems(
    "correspond result act exit follow develop air fly climb treat operate respond win watch depart move work "
    "live belong make place locate situate base serve host feature appear come originate stand lie cover deal "
    "bring bear carry provide enter face meet call offer allow want need own handle run use hold keep give put "
    "set take do go get have show lead star represent reach achieve obtain build construct generate receive "
    "answer stay see involve fall contribute manage"
)
"""Linking verbs without a meaning for the plan."""

LEANING = _words(
    "same instead again those these that rather remove removing drop add change switch filter restrict narrow limit "
    "make break broken keep only also too further additionally now then just but first last use turn compare"
)
"""Words by which a follow-up refers to the previous answer."""

# Negation.

NOT = _words(
    "not never no none nobody nothing nowhere neither nor without except excluding exclude excludes excluded "
    "besides apart lacking lack lacks isn't aren't wasn't weren't don't doesn't didn't hasn't haven't hadn't can't "
    "cannot couldn't won't wouldn't shouldn't outside missing empty blank null yet zero ain't dont doesnt didnt "
    "isnt arent wasnt werent hasnt havent leave leaving omit omitting ignoring ignore unless nil non skipping"
)
STATES = _words(
    "open unresolved outstanding pending unpaid active current currently still remaining ongoing running unsold "
    "unassigned unanswered undelivered unfinished incomplete inactive free available unknown anonymous overdue "
    "alive"
)
"""Words that say by themselves that something has not happened, or is no more."""
PREFIXES = ("un", "non", "in", "dis", "ir", "im")

# Comparison.

COMPARATIVES = _words(
    "higher lower larger smaller greater bigger older younger taller shorter longer cheaper better worse faster "
    "slower heavier lighter newer later earlier closer stronger weaker busier happier richer poorer warmer colder "
    "hotter more less fewer"
)
AGAINST = _words(
    "than vs versus against compare compares compared comparing comparison above below beyond exceed exceeds "
    "exceeded exceeding outperform outperformed outperforms"
)

# Computing.

_COMPUTED = """
avg zscore median ratio: average averages avg mean averaged averaging
avg median: typical typically usual usually
median: median medians middle
quantile: percentile percentiles quantile quantiles quartile quartiles p50 p90 p95 p99
stddev: stddev std stdev deviation variance spread volatility standard
zscore: zscore
max desc: maximum max
min asc: minimum min
max desc: peak
share ratio percent: share shares proportion proportions fraction portion percentage percentages percent pct %
share ratio: rate rates ratio ratios
correlation: correlation correlations correlate correlates correlated
correlation: relationship relation link linked depend depends dependence affect affects influence influences
difference change: difference differences differ differs gap minus range
ratio: divided
change difference bucket: rise rises rose risen fall falls fell fallen drop drops dropped
change difference: change changes changed changing growth grow grows grew growing grown increase increases
change difference: increased increasing decrease decreases decreased decreasing
running: cumulative cumulated cumulatively
zscore: outlier outliers anomaly anomalies anomalous unusual unusually abnormal
distinct count_distinct group: distinct unique
distinct count_distinct: separate
bucket change: trend trends trending evolution evolve evolved develop development timeline
group: distribution distributed
"""


def _computed() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in _COMPUTED.strip().splitlines():
        marks, _, words = line.partition(":")
        found.update(dict.fromkeys(words.split(), frozenset(marks.split())))
    return found


COMPUTED = _computed()
"""A word that names a computation → what the plan must do, any one of these."""

ADDED = _words("total totals sum sums summed combined altogether overall")
"""Words that ask for all of it together: a sum, a count, or one number for all rows."""
CAUSES = _words("why cause causes caused causing because")
FUTURE = _words(
    "will forecast forecasts forecasted forecasting predict predicts predicted prediction predictions projected "
    "projection tomorrow upcoming future expect expected should"
)

# Ranking.

SEQUENCES = _stems(
    "round week number episode season chapter stage match game position pos rank place no year leg lap"
)
"""Columns of numbers along which there is a first and a last."""
DATED = {
    "final": "desc", "latest": "desc", "newest": "desc", "recent": "desc", "recently": "desc", "last": "desc",
    "earliest": "asc", "first": "asc", "oldest": "asc", "youngest": "desc", "soonest": "asc", "lately": "desc",
}  # fmt: skip
"""Ranking words of time → the direction along a date; `oldest` and `youngest` also refer to an age."""
TOPS = frozenset(MOST | _words("top best highest leading biggest busiest most favourite favorite strongest "))
BOTTOMS = frozenset(
    LEAST | _words("bottom worst lowest least fewest weakest emptiest closest nearest tiniest quietest")
)
OFTEN = _words("popular common commonly frequent frequently often busiest prevalent rarest rare")
SIZES = _words("biggest largest highest greatest smallest lowest most least fewest")
ORDINALS = {
    "first": 1, "1st": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10, "2nd": 2, "3rd": 3, "4th": 4, "5th": 5, "6th": 6, "7th": 7, "8th": 8, "9th": 9, "10th": 10,
}  # fmt: skip
NO_SUPERLATIVE = _words(
    "interest request requests test tests west forest harvest harvests invest guest guests contest contests honest "
    "protest digest rest quest vest nest chest pest zest crest arrest suggest midwest northwest southwest modest "
    "manifest budapest bucharest"
)
BAD_HIGH = _stems(" ".join(measures.BAD_HIGH)) | _stems("stop stoppage fault crash")
"""Of these a high number is the worst."""
BAD_LOW = _stems(" ".join(measures.BAD_LOW))
OCCASIONS = _words("race match game contest competition tournament championship event election survey study")
"""What all rows are about, when `the` stands before it."""
ENTITIES = _stems(
    "player team song episode game match season school city town nation country company film movie album race driver "
    "model region station event club person title show artist candidate party university college district"
)
"""Nouns that people use for the rows of any table."""
OUTCOMES = {stem("win"): "w", stem("lose"): "l", stem("draw"): "d", stem("tie"): "d"}
ANTONYMS = {stem("died"): stem("survived"), stem("absent"): stem("present"), stem("failed"): stem("passed")}
RANKING = _words("rank ranks ranked ranking position standing")
PERSON = _stems(
    "person player winner driver author director employee customer owner artist candidate agent officer writer user "
    "host teacher doctor opponent buyer seller member student patient guest reader donor mechanic lecturer manager "
    "staff nickname client supplier vendor contractor operator trainer nurse company account lead rep inspector "
    "tenant landlord freelancer reviewer passenger pilot cook waiter cashier recruiter team party holder contact "
    "producer sponsor"
)
PLACES = _stems(
    "location place venue city country site stadium address region state town zone area point room branch store"
)

# Time.

PARTS_OF_DAY = _words(
    "morning mornings afternoon afternoons evening evenings night nights noon midnight am pm overnight lunchtime"
)
PARTS_OF_WEEK = frozenset(WEEKDAYS) - {"sun", "sat", "mon", "wed"} | _words(
    "weekend weekends weekday weekdays workday workdays"
)
SEASONS = _words("spring summer autumn winter christmas easter holiday holidays")
CURRENT = _words("currently current now still nowadays anymore")
PASSED = _words("ago past previous prior already")
MONTH_NAMES = frozenset(MONTHS) - {"may", "mar", "jan", "dec", "sep", "oct", "nov"} | {"may"}

IMPLIED_COLUMNS: dict[str, tuple[frozenset[str], bool]] = {
    word: (_stems(words), more) for word, (words, more) in IMPLIED.items()
}
DURATIONS = _stems("duration length runtime minutes min mins hours hrs seconds time days long")
