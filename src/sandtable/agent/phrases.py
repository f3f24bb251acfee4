r"""The turns of phrase that give a message's kind away, as patterns over text with single spaces.

`anchored` patterns must explain the whole message, so that a question which merely contains such words
stays a question.
"""

from __future__ import annotations

import re
from typing import Literal

Talk = Literal["empty", "greeting", "thanks", "bye", "help", "self", "data"]
Back = Literal["sql", "plan", "explanation", "rejection"]
Order = Literal["too_long", "change", "files", "network", "instructions", "dump", "python"]


def _any(*ways: str) -> str:
    return "(?:" + "|".join(ways) + ")"


def found(*ways: str) -> re.Pattern[str]:
    """Somewhere in the message."""
    return re.compile(_any(*ways), re.IGNORECASE)


def anchored(*ways: str) -> re.Pattern[str]:
    """The whole message, apart from marks at its end."""
    return re.compile(rf"^\W*{_any(*ways)}\W*$", re.IGNORECASE)


_YOU = r"(?:can|could|would|will) you (?:please )?"
POLITE = rf"(?:(?:please|now|then|ok|okay|and|so|just|first|hey|hi),? |{_YOU}|i want you to |go ahead and )*"
COURTESY = re.compile(rf"^(?:(?:please|ok|okay|and|so|hi|hey|hello),? |{_YOU})+", re.IGNORECASE)
HELLO = re.compile(
    r"^(?:hi|hello|hey|good (?:morning|afternoon|evening))(?: there)?[,!.]+ (?=\w)", re.IGNORECASE
)

# Orders that are not followed.

_THING = _any("tables?", "databases?", "schemas?", "rows?", "records?", "entry", "entries", "data", "dataset")
_NOUN = (
    r"(?!(?:up|off|in|out|of|on|over|down|by|per|vs|versus|and|or|rates?|ratios?|counts?|times?|frequency|volumes?|"
    r"requests?|events?|actions?|history|types?|reasons?)\b)"
)
"""Behind a verb that is a noun as well (`drop in data usage`, `delete rate`): no order then."""
CHANGES = found(
    rf"^{POLITE}(?:drop|truncate|alter|wipe|destroy|erase) {_NOUN}(?:\S+ ){{0,4}}"
    r"(?:table|tables|database|schema|view|dataset|data|everything)\b",
    rf"^{POLITE}delete {_NOUN}(?:\S+ ){{0,6}}{_THING}\b",
    rf"^{POLITE}delete (?:all|every|any|the|everything)\b",
    rf"^{POLITE}insert (?:\S+ ){{0,6}}into\b",
    rf"^{POLITE}add (?:a|an|one|some|new) (?:\S+ ){{0,2}}(?:row|record|entry|entries|rows|records)\b",
    rf"^{POLITE}update {_NOUN}(?:\S+ ){{1,10}}(?:set|to|=) ",
    rf"^{POLITE}(?:create|make) (?:(?:a|an|the) )?(?:new )?(?:table|view|index|database)\b",
    r"\b(?:run|execute|do) (?:(?:a|the) )?(?:drop|delete|truncate|insert|alter) (?:table|from|into|statement)\b",
)
REMOVAL = re.compile(
    rf"^{POLITE}(?:drop|delete|truncate|wipe|erase) (?:(?:all|the|all the) )?(?P<what>\w+)\W*$", re.IGNORECASE
)

_INSTRUCTIONS = found(
    r"\b(?:ignore|disregard|forget|override|bypass) (?:\S+ ){0,3}?"
    r"(?:instructions?|rules|guidelines|restrictions|guardrails|prompts?|policy|policies|safety)\b",
    r"\bsystem prompt\b",
    r"\bdeveloper mode\b",
    r"\bjailbreak",
    r"\b(?:print|show|reveal|repeat|tell) (?:me )?your (?:\w+ )?(?:instructions|prompt|rules)\b",
    r"^\W*you are now (?:a|an|in|the)\b",
)
_PLACES = r"(?:~/|\.\./|file://|/(?:sys|root|var|dev|usr|tmp|boot|mnt|opt)/|[a-z]:\\)"
_FILES = found(
    r"/etc/\w+",
    r"/proc/\w+",
    r"\betc/passwd\b",
    r"\.ssh\b",
    r"\bid_rsa\b",
    r"(?:^| )\.env\b",
    r"\b(?:read|open|cat|load|print|show|display|include|access|get|list|ls)(?: \S+){0,4}? [\"'`]?" + _PLACES,
    r"\b(?:list|read|open|show|access|browse) (?:me )?(?:(?:the|your|all) )*(?:files (?:on|in|of)|file ?system"
    r"|director(?:y|ies)|folders|environment variables?|env vars?|api keys?|credentials)\b",
    r"\b(?:run|execute) (?:(?:a|the|this) )?(?:shell|bash|terminal|os|system)\b",
)
_NETWORK = found(
    r"\b(?:open|fetch|download|upload|post|send|curl|wget|visit|browse|call|load|read)\b.{0,60}?"
    r"\b(?:https?|ftp|s3)://",
    r"\b(?:search|browse|google) (?:the )?(?:web|internet)\b",
)
_WHOLE = _any(
    r"(?:the )?(?:whole|entire|full|complete) (?:data ?set|database|data|tables?|csv|file|contents?)",
    r"(?:all|every|all of) (?:(?:the|your) )?(?:data|data ?sets?|database|rows?|records?|contents?|tables)",
    "everything",
)
_DUMP = found(
    rf"^{POLITE}dump (?:\S+ ){{0,4}}(?:data\w*|database|tables?|rows|everything|csv)\b",
    rf"^{POLITE}(?:show|give|print|export|list|output|return|send|download|display|get) (?:me )?{_WHOLE}"
    r"(?: (?:you|we) (?:have|know)| there is| (?:of|in|from) (?:(?:the|this|it) ?)?\w*"
    r"(?: (?:table|data ?set|database|file))?)?(?: (?:as|to|in|into) (?:a )?(?:csv|json|excel|file|text)\w*)?\W*$",
)
_PYTHON = found(
    r"\b(?:in|with|using|write|run|execute|some|use) (?:(?:a|some|me) )*"
    r"(?:python|pandas|numpy|polars|scipy|plotly|matplotlib|seaborn|scikit\S*|jupyter)\b",
    r"\b(?:python|pandas) (?:code|script|program|notebook|function|plot|chart|graph)\b",
    r"\b(?:train|fit|build) (?:a|an|the|me a) (?:\S+ ){0,4}?"
    r"(?:model|classifier|regressor|regression|network|forest)\b",
    r"\b(?:linear|logistic|multiple|polynomial) regression\b",
    rf"^{POLITE}(?:run|do|perform|make) (?:a )?regression\b",
    r"\bmachine learning\b",
    r"\bk-?means\b",
    r"\bneural net",
    r"\b(?:clustering|sentiment analysis|monte carlo|arima)\b",
    rf"^{POLITE}(?:cluster|simulate) ",
    rf"^{POLITE}(?:forecast|predict) ",
)
IN_PYTHON = re.compile(
    r"[,:]? ?\b(?:in|with|using|via|use) (?:(?:python|pandas|numpy|polars)(?: and (?:python|pandas|numpy))?)"
    r"(?: code)?(?: (?:to|and))?\b[,:]?",
    re.IGNORECASE,
)
"""Requests for Python in a message that would also be a question without them."""
ORDERS: tuple[tuple[Order, re.Pattern[str]], ...] = (
    ("instructions", _INSTRUCTIONS),
    ("files", _FILES),
    ("network", _NETWORK),
    ("change", CHANGES),
    ("dump", _DUMP),
    ("python", _PYTHON),
)

# About the exchange before.

_RESULT = r"the (?:(?:last|previous) )?(?:result|results|answer|table|query|rows|list|output)"
_THAT = _any("that", "this", "it", "these", "those", "them", _RESULT)
NAMING = re.compile(
    rf"^{POLITE}"
    + _any(
        rf"(?:call|name|label) {_THAT} (?:as )?",
        rf"(?:save|store|keep|remember|define|bookmark) {_THAT} (?:as|under|under the name|by the name) (?:of )?",
    )
    # A word that leads on ("name the result for round 3") means that it is a question.
    + r"(?:a table (?:called|named) |the name )?(?!(?:for|with|in|of|on|at|when|where|by|and|from|that|if) )"
    + r"(?P<name>[\"'`“]?\w[\w-]{0,62}(?: [\w-]{1,30}){0,3}[\"'`”]?)[.!]*$",
    re.IGNORECASE,
)
_SHOW = (
    _any(
        "show",
        "give",
        "display",
        "print",
        "tell",
        "see",
        "get",
        "view",
        "let me see",
        "i want to see",
        "which",
    )
    + r" |what(?:'s| is| was| were)? "
)
_SHOWN = (
    rf"(?:{_SHOW})?(?:me )?(?:(?:the|that|your|its) )?(?:(?:exact|compiled|generated|underlying|full|raw) )?"
)
_AGAIN = (
    r"(?: (?:again|please|now|used|statement|text|query|is|was|(?:for|of|behind|to) (?:that|this|it)"
    r"|did you (?:run|use|execute|write)"
    r"|(?:that )?you (?:ran|used|made|wrote|executed)|that (?:ran|was run))){0,3}"
)
_NUMBER = r"(?:the|that|this) numbers?"
LOOK_BACKS: tuple[tuple[Back, re.Pattern[str]], ...] = (
    ("sql", anchored(rf"{_SHOWN}(?:sql query|sql|query|(?:python )?code){_AGAIN}")),
    ("plan", anchored(rf"{_SHOWN}(?:query )?plan(?: json)?{_AGAIN}")),
    (
        "rejection",
        anchored(
            r"why (?:was|were|is|did|has|have|do|does|could|couldn't|can|can't|not|didn't|wasn't)\b.{0,60}?"
            r"(?:reject\w*|refus\w*|den(?:y|ied)|block\w*|fail\w*|forbidden|allowed|run|work|execute)"
            r"(?: (?:it|that|this))?",
            "why not",
            rf"what (?:went|was|is) wrong(?: with {_THAT})?",
        ),
    ),
    (
        "explanation",
        anchored(
            rf"explain(?: (?:{_THAT}|yourself|the (?:sql|plan)|{_NUMBER}))?(?: to me)?",
            r"how (?:did|do|have) you (?:get|got|compute|computed|calculate|calculated|find|found|arrive at"
            rf"|arrived at|work out|worked out|come up with|know|do) (?:to )?(?:{_THAT}|{_NUMBER})",
            rf"how (?:was|is|were|are) {_THAT} (?:computed|calculated|made|derived|found|worked out)",
            rf"where (?:does|do|did) (?:{_THAT}|{_NUMBER}) come from",
            rf"what does {_THAT} mean",
            "are you sure",
            "how so",
            "why",
        ),
    ),
)

# SQL wanted beside the answer.

_AIM = _any(
    "for",
    "of",
    "to (?:get|find|show|compute|calculate|list|answer)",
    "(?:that|which) (?:gives|shows|finds|returns|computes|lists|answers)",
)
WANTS_SQL = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^(?:please )?(?:{_YOU})?(?:give|show|write|get|tell|generate|make) (?:me )?(?:(?:the|a|an|some) )?"
        rf"(?:sql|query in sql)(?: (?:query|statement|code))? {_AIM} (?P<question>\S.*)$",
        rf"^what(?:'s| is| would be) the sql(?: query)? {_AIM} (?P<question>\S.*)$",
        r"^(?:in|using|with|as) sql ?[,:]? (?P<question>\S.*)$",
        r"^(?P<question>\S.*?),? (?:in|as|using|with|via) (?:the )?sql(?: (?:query|please|too|as well))?\W*$",
        r"^(?P<question>\S.*?)[,;.]? (?:and )?(?:show|give) (?:me )?the sql(?: (?:too|as well|also))?\W*$",
    )
)
AND_RUN = re.compile(r",? (?:and|then|and then) (?:run|execute) (?:it|that)\W*$", re.IGNORECASE)

# Small talk.

_ALL = r"(?: (?:there|all|everyone|you|sandtable|again|friend|team|mate))*"
_SET = r"data|datasets?|tables?|columns?|schema|fields|metrics"
TALKS: tuple[tuple[Talk, re.Pattern[str]], ...] = (
    (
        "greeting",
        anchored(
            r"(?:hi+|hello|hey+|howdy|hallo|hola|bonjour|ciao|servus|moin|yo|greetings"
            rf"|good (?:morning|afternoon|evening|day)){_ALL}(?:[,!.]* how are you(?: doing)?)?",
            "how are you(?: doing)?",
            "what'?s up",
        ),
    ),
    (
        "thanks",
        anchored(
            r"(?:(?:many|ok|great),? )?(?:thanks|thank you|thx|cheers|danke|merci|gracias)"
            r"(?: (?:a lot|so much|very much|you|again|that (?:helps|helped|was helpful)))*",
            "great|perfect|nice|awesome|cool|ok|okay|got it|good(?: job)?|well done|excellent|wonderful",
            "understood|alright|fine",
        ),
    ),
    ("bye", anchored(r"bye(?: ?bye)?|goodbye|see you(?: \w+)?|quit|exit|that'?s all(?: for now)?")),
    (
        "self",
        anchored(
            "(?:who|what) are you",
            "are you (?:(?:a|an) )?(?:bot|ai|human|robot|person|model)",
            "what(?:'s| is) (?:your name|sandtable)",
        ),
    ),
    (
        "help",
        anchored(
            "help(?: me)?",
            "what can (?:you|i) (?:do|ask|answer|say)(?: (?:here|you|for me|about|with (?:this|it)))*",
            "what (?:do you do|should i ask|questions can i ask|kinds? of questions.*)",
            "how (?:does this|do you|do i use (?:this|you))(?: work)?",
            "(?:give|show) (?:me )?(?:some )?examples?(?: questions)?",
            r"suggest\w*(?: (?:something|some questions|questions|a question))?",
        ),
    ),
    (
        "data",
        anchored(
            rf"(?:what|which) (?:{_SET}|information)(?: (?:is|are|do|does|can|have|has|exists?|available|there"
            r"|here|in|it|this|you|we|i|know|about|got|see|use|ask|the|data|dataset|contain|hold))*",
            rf"(?:describe|show|list|explain|tell me about|what'?s in|what is in|what does) (?:me )?"
            rf"(?:(?:the|this|your|all|available) )*(?:{_SET})"
            r"(?: (?:contain|hold|look like|there are|available|about|you have))?",
            r"what (?:do|does) (?:you|the data|this data|this dataset) (?:know|contain|have|hold)",
            r"what (?:is|are) (?:this|the) data(?:set)?(?: about)?",
        ),
    ),
)
