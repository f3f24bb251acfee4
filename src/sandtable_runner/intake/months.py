"""The names of months in English, German, French, Spanish, Italian, Portuguese and Dutch.

No word means different months in two of these languages, so a format needs no language.
"""

from __future__ import annotations

from sandtable_runner.engine import literal

_LONG = (
    "january januar jänner janvier enero gennaio janeiro januari",
    "february februar février fevrier febrero febbraio fevereiro februari",
    "march märz maerz mars marzo março marco maart",
    "april avril abril aprile",
    "may mai mayo maggio maio mei",
    "june juni juin junio giugno junho",
    "july juli juillet julio luglio julho",
    "august août aout agosto augustus",
    "september septembre septiembre setiembre settembre setembro",
    "october oktober octobre octubre ottobre outubro",
    "november novembre noviembre novembro",
    "december dezember décembre decembre diciembre dicembre dezembro",
)
_SHORT = (
    "jan jän janv ene gen",
    "feb févr fevr fév fev febr",
    "mar mär mrz mrt",
    "apr avr abr",
    "may mai mag mei",
    "jun juin giu",
    "jul juil lug",
    "aug août aout ago",
    "sep sept set",
    "oct okt ott out",
    "nov",
    "dec dez déc dic",
)
_WORD = "[^-0-9 .,:/]{3,}[.]?"
"""The month of a date in words: other words (de, am, T) are shorter."""
_MOST_NAMES = 16
"""Of one month."""


def _either(names: tuple[str, ...]) -> str:
    """The longest first: RE2 and Python take the first alternative that matches."""
    return "|".join(sorted(" ".join(names).split(), key=lambda name: (-len(name), name)))


LONG = f"(?i:{_either(_LONG)})"
SHORT = f"(?i:{_either(_SHORT)})[.]?"


def as_number(cell: str) -> str:
    """The cell in SQL with the number of its month instead of the name; NULL where it has none."""
    word = f"lower(rtrim(regexp_extract({cell}, {literal(_WORD)}), '.'))"
    # One list, in which each month has the same number of places: the place says the month.
    listed: list[str] = []
    for long, short in zip(_LONG, _SHORT, strict=True):
        names = list(dict.fromkeys(f"{long} {short}".split()))
        listed += names + [names[0]] * (_MOST_NAMES - len(names))
    place = f"list_position([{', '.join(map(literal, listed))}], {word})"
    number = f"CAST(({place} - 1) // {_MOST_NAMES} + 1 AS VARCHAR)"
    return f"regexp_replace({cell}, {literal(_WORD)}, lpad({number}, 2, '0'))"
