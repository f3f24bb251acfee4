"""Messages that are no question about data: empty, too long, in another language, commands, small talk."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sandtable.planner.language.vocabulary import FILLER

MOST_CHARACTERS = 2_000
MOST_WORDS = 250

_SPACE = re.compile(r"\s+")
_LETTERS = re.compile(r"[^\W\d_]")
_ORDERS = re.compile(
    r"\b(?:drop|truncate|alter|create|rename)\s+(?:the\s+)?(?:\w+\s+)?(?:table|database|column|view|schema|index|user)s?\b"
    r"|\b(?:delete|insert|update)\s+(?:from|into|all|every|the rows?|the records?|the table)\b"
    r"|;\s*(?:drop|delete|select|update|insert)\b",
    re.IGNORECASE,
)
_POLITE = r"^\W*(?:please\s+|now\s+|can you\s+|could you\s+)*"
_NOUN = (
    r"(?!\s+(?:up|off|in|out|of|on|over|down|by|per|vs|versus|and|or|rates?|ratios?|counts?|times?|frequency|volumes?|"
    r"requests?|events?|actions?|history|types?|kinds?|reasons?|status)\b|\s*$|\s*[?,:])"
)
"""No command if this follows: the word is a noun there (`drop off`, `email vs chat`, `delete rate`)."""
_OBJECT = (
    r"\s+(?:the|a|an|all|every|each|any|this|that|these|those|it|them|my|our|everything|everyone|me|him|her|us|new|"
    r"rows?|records?|entry|entries|tables?|columns?|data|\S*\d\S*|\w+\s+\S*\d\S*)\b"
)
"""The object of a command: a definite thing. `book sales by month` has none."""
_DEEDS = re.compile(
    _POLITE + rf"(?:(?:delete|erase|wipe|destroy|overwrite|insert|truncate|purge|modify|rename)\b{_NOUN}"
    r"|(?:shut down|turn off|write a)\b"
    rf"|update\b{_NOUN}.+\b(?:set|to)\b"
    r"|(?:update|edit|replace|fix|correct|cancel|send|email|buy|book|install|kill|restart|import|upload|save|commit|"
    rf"assign|move|mark|escalate|(?:re)?open|close)\b{_OBJECT})",
    re.IGNORECASE,
)
_CHANGES = re.compile(_POLITE + rf"(?:remove|drop|change|add|set|clear|reset)\b{_OBJECT}", re.IGNORECASE)
"""Commands at the start of a conversation; later they may refer to the previous answer."""
_FILES = re.compile(
    r"/etc/|/proc/|/home/|\bpasswd\b|\.ssh\b|\bc:\\|\b(?:read|open|cat|load|list)\s+(?:the\s+)?(?:files?|folder|director(?:y|ies))\b|"
    r"file:|https?:|\benvironment variables?\b|\bapi[ _-]?keys?\b|\bpasswords?\b|\bsecrets?\b|\bsystem prompt\b|"
    r"\bread_(?:csv|text|parquet|blob)\b|\bshell\b|\bexecute\s+(?:this|the|a|some)?\s*(?:command|code|script|python)\b|"
    r"\brun\s+(?:this|the|a|some)?\s*(?:command|code|script|python|shell)\b|\battach\s+database\b|\bpragma\b",
    re.IGNORECASE,
)
_INJECTION = re.compile(
    r"\b(?:ignore|disregard|forget)\s+(?:all\s+|any\s+|the\s+|your\s+|previous\s+)*(?:instructions?|rules?|prompts?)\b"
    r"|\byou are now\b|\bpretend (?:to be|you)\b|\bact as\b|\bjailbreak\b",
    re.IGNORECASE,
)
_DUMP = re.compile(
    r"\b(?:dump|export|download|leak|exfiltrate)\b"
    r"|\beverything (?:you have|in (?:the|this) (?:dataset|database|table|file))\b"
    r"|\b(?:whole|entire|complete|full) (?:dataset|database|table|data|file)\b"
    r"|\ball (?:the |of the )?(?:data|rows and columns|tables)\b",
    re.IGNORECASE,
)
_FUTURE = re.compile(
    r"^\W*will\b|\b(?:forecast|predict|prediction|projected)\w*\b|\bnext (?:year|month|week|quarter)\b"
    r"|\bin the future\b",
    re.IGNORECASE,
)
_SMALL_TALK = re.compile(
    r"^\W*(?:hi|hello|hey|good (?:morning|evening|afternoon)|thanks?|thank you(?: very much)?|bye|ok(?:ay)?|cool|nice|"
    r"great|who are you|what are you|how are you(?: doing)?(?: today)?|what can you do|help|what'?s up|"
    r"are you (?:a )?(?:human|robot|bot|ai)|tell me a joke|test|what can i ask(?: you)?)\W*$",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"^\W*(?:thanks?|thank you|thx|cheers|perfect|great|awesome|excellent|lovely|nice|cool|wow|well done|good job"
    r")(?:\W+(?:that|that's|this|it|was|is|were|really|very|so|much|a|lot|helpful|help|helped|great|good|nice|useful|"
    r"perfect|exactly|what|i|needed|wanted|for|the|your|you|all|have|day|clear|interesting|again|job|work|answer))*\W*$",
    re.IGNORECASE,
)
_LANGUAGES: dict[str, frozenset[str]] = {
    "German": frozenset(
        "der die das und ist sind wie viele was welche welcher welches nach mit für von im den dem ein eine zeige mir "
        "pro umsatz durchschnittlich durchschnittliche bitte anzahl monat jahr gibt es wer hat haben alle nicht".split()
    ),
    "French": frozenset(
        "le la les des du et est sont combien quel quelle quels quelles par avec pour dans une un moi montre "
        "moyenne chiffre mois année qui ont tous toutes nous vous il y a donne liste de".split()
    ),
    "Spanish": frozenset(
        "el la los las del y es son cuántos cuantos cuántas cuantas qué que cuál cual por con para en una un "
        "muéstrame muestra promedio mes año quién tienen todos todas hay dame lista de ventas media".split()
    ),
    "Italian": frozenset(
        "il lo la gli le di del della e è sono quanti quante qual quale per con nel una un mostra mostrami media "
        "mese anno chi hanno tutti tutte ci dammi quali".split()
    ),
    "Portuguese": frozenset(
        "o a os as do da dos das e é são quantos quantas qual quais por com para em uma um mostre média mês ano "
        "quem têm todos todas há me de".split()
    ),
    "Dutch": frozenset(
        "de het en is zijn hoeveel wat welke per met voor van in een laat zien gemiddelde maand jaar wie hebben alle "
        "er mij toon".split()
    ),
    "Polish": frozenset(
        "ile jest są jaki jaka jakie według z dla w pokaż średnia miesiąc rok kto wszystkie i na".split()
    ),
    "Swedish": frozenset(
        "hur många är vilken vilka och med för av en ett visa månad år vem alla medel per".split()
    ),
}
_ENGLISH = frozenset(
    "the of is are was were how many what which who by per with for in and average total show list number me to from "
    "than more less top each all most least has have had a an at on over under between where when does did do".split()
)


@dataclass(frozen=True, slots=True)
class Stop:
    reason: str
    helpful: bool = True
    """Whether suggestions of questions make sense."""


def stop(text: str, *, follows: bool = False) -> Stop | None:
    """Why this text is not for the planner, or None. `follows`: there was an answer before it."""
    plain = _SPACE.sub(" ", text).strip()
    if not plain or not _LETTERS.search(plain):
        return Stop("There is no question here. Ask something about the data in a sentence.")
    if len(text) > MOST_CHARACTERS or plain.count(" ") > MOST_WORDS:
        return Stop(
            f"That text is too long for one question: {len(text)} characters. "
            f"Ask one thing at a time, in at most {MOST_CHARACTERS} characters."
        )
    return _order(plain, follows) or _language(plain)


def _order(plain: str, follows: bool) -> Stop | None:
    if _SMALL_TALK.match(plain) or _THANKS.match(plain):
        return Stop("I answer questions about the data of this dataset. Ask, for example, one of these.")
    if _INJECTION.search(plain):
        return Stop("I only answer questions about the data; I do not take new instructions from a message.")
    if _FILES.search(plain):
        return Stop("I can only read the tables of this dataset, no files, addresses, secrets or programs.")
    if _DUMP.search(plain):
        return Stop(
            "I do not hand out a whole dataset. Ask for the columns, the rows or the summary that you need."
        )
    if _FUTURE.search(plain):
        return Stop("I only know what the data holds; I cannot tell the future. Ask about what has happened.")
    if _ORDERS.search(plain) or _DEEDS.match(plain) or (not follows and _CHANGES.match(plain)):
        return Stop(
            "I only read data: I cannot change, delete, send or create anything. Ask a question about it."
        )
    return None


def _language(plain: str) -> Stop | None:
    letters = _LETTERS.findall(plain)
    foreign = [c for c in letters if ord(c) > 0x24F]
    if len(foreign) > len(letters) / 2:
        return Stop("I understand questions in English only. Please ask again in English.")
    words = [w.strip(".,;:!?¿¡\"'()").lower() for w in plain.split()]
    english = sum(w in _ENGLISH for w in words)
    scores = {name: sum(w in known and w not in FILLER for w in words) for name, known in _LANGUAGES.items()}
    best = max(scores, key=lambda name: scores[name])
    if scores[best] >= 2 and scores[best] > english and scores[best] >= 0.3 * len(words):
        return Stop(
            f"That looks like {best}; I understand English questions only. Please ask again in English."
        )
    return None
