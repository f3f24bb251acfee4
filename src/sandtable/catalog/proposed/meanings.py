"""What the values of a column are: money, a duration, an e-mail address, a place …; and which are personal data.

Decided by the type, the unit, the words of the name and the values that the profile lists. It is a proposal with its
reason, for a person to confirm or correct; nothing is computed from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sandtable.catalog.measures import NUMBER_TYPES, MeasureKind, measure_kind, name_words
from sandtable.catalog.model import Column, ColumnType, Meaning, Table
from sandtable.catalog.profile import ColumnProfile
from sandtable.catalog.units import unit_of_column


@dataclass(frozen=True, slots=True)
class ColumnMeaning:
    meaning: Meaning
    why: str
    """Such as `its unit is EUR` or `98 of 100 values look like e-mail addresses`."""
    personal: bool = False
    """Whether it identifies a person, or says something about one that others should not read."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CURRENCIES = _words(
    "EUR USD GBP CHF JPY INR CNY SEK NOK DKK PLN CZK HUF CAD AUD NZD BRL MXN ZAR KRW TRY RUB kr $ €"
)
_DURATIONS = _words("ms seconds minutes hours days weeks months years")
_MONEY = _words(
    "price revenue sales amount cost costs fee fees salary wage income profit budget payment paid invoice balance "
    "turnover spend spending expense expenses tax vat umsatz preis betrag kosten gehalt prix montant precio importe"
)
_PLACES = _words(
    "city town country state province region county district municipality continent location place village borough "
    "stadt ort land bundesland kreis ville pays ciudad pais provincia città paese zip zipcode postcode postal plz"
)
_NAMES_OF_PEOPLE = _words(
    "firstname lastname surname fullname forename vorname nachname nom prénom nombre apellido"
)
_PEOPLE = _words(
    "customer client patient employee person contact member student teacher passenger guest owner author driver user "
    "subscriber tenant applicant candidate donor voter resident kunde kunden patientin patienten mitarbeiter "
    "cliente clientes clienti dipendente empleado salarié"
)
_PERSONAL_WORDS = (
    (_words("birthday birthdate dob geburtsdatum geburtstag"), "a date of birth"),
    (_words("ssn passport iban bic nin nino steuernummer taxid"), "an official number or an account"),
    (_words("ip ipaddress"), "an address of a computer"),
    (_words("street address addr strasse straße adresse rue calle"), "an address"),
    (_words("gender sex religion ethnicity race nationality diagnosis disability"), "a protected property"),
    (_words("latitude longitude lat lon lng geo gps"), "a position"),
)
_EMAIL = re.compile(r"[^\s@]+@[^\s@]+\.[A-Za-z]{2,}")
_PHONE = re.compile(r"(?:\+|00)?[\d(][\d\s()./-]{6,18}\d")
_WEB = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_IBAN = re.compile(r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?")
_IP = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}|(?:[0-9a-fA-F]{0,4}:){3,7}[0-9a-fA-F]{0,4}")
_CODE = re.compile(r"(?=\S*\d)[\w./-]{3,40}")
_YES_NO = (
    _words("yes no"), _words("y n"), _words("true false"), _words("t f"), _words("ja nein"), _words("oui non"),
    _words("si no"), _words("sí no"), _words("on off"),
)  # fmt: skip
_OF_PERSONS = (Meaning.EMAIL, Meaning.PHONE, Meaning.PERSON)
_MOSTLY = 0.9
_LOOKED_AT = 200
_FEW_VALUES = 50
_SHORT = 40


def meaning_of(column: Column, profile: ColumnProfile | None, table: Table | None = None) -> ColumnMeaning:
    """`profile` is that of the column, `table` the one it is in; with more known, more is found. What a person stated
    in the catalog comes first."""
    proposed = _proposed(column, profile, table)
    if column.meaning is None:
        return proposed
    personal = proposed.personal or column.meaning in _OF_PERSONS
    return ColumnMeaning(column.meaning, "the catalog says so", personal)


def _proposed(column: Column, profile: ColumnProfile | None, table: Table | None) -> ColumnMeaning:
    found = _by_values(column, profile) or _by_type(column, profile) or _by_name(column, profile, table)
    if found.personal:
        return found
    why = _personal(column)
    return ColumnMeaning(found.meaning, f"its name says {why}", personal=True) if why else found


def _by_values(column: Column, profile: ColumnProfile | None) -> ColumnMeaning | None:
    """Forms that only one kind of value has."""
    if column.type is not ColumnType.TEXT or profile is None:
        return None
    values = [str(v.value) for v in profile.values[:_LOOKED_AT] if v.value not in (None, "")]
    if not values:
        return None
    for form, meaning, personal in (
        (_EMAIL, Meaning.EMAIL, True),
        (_WEB, Meaning.ADDRESS, False),
        (_IBAN, Meaning.IDENTIFIER, True),
        (_IP, Meaning.IDENTIFIER, True),
    ):
        if said := _most(values, form.fullmatch):
            what = {_EMAIL: "e-mail addresses", _WEB: "web addresses", _IBAN: "bank accounts"}.get(form)
            return ColumnMeaning(meaning, f"{said} look like {what or 'addresses of computers'}", personal)
    words = {value.strip().lower() for value in values}
    if profile.complete and frozenset(words) in _YES_NO:
        return ColumnMeaning(Meaning.YES_NO, f"its values are {' and '.join(sorted(words))}")
    if {"phone", "telephone", "mobile", "fax", "tel", "telefon"} & set(name_words(column.name)):
        said = _most(values, _PHONE.fullmatch)
        return ColumnMeaning(Meaning.PHONE, f"{said} look like phone numbers", True) if said else None
    return None


def _most(values: Sequence[str], fits: Callable[[str], object]) -> str:
    """How many of the values fit, in words; nothing where it is fewer than nine in ten."""
    fitting = sum(1 for value in values if fits(value.strip()))
    if fitting < _MOSTLY * len(values):
        return ""
    return f"all {len(values)} values" if fitting == len(values) else f"{fitting} of {len(values)} values"


def _by_type(column: Column, profile: ColumnProfile | None) -> ColumnMeaning | None:
    if column.type is ColumnType.BOOLEAN:
        return ColumnMeaning(Meaning.YES_NO, "its type is boolean")
    if column.type in (ColumnType.DATE, ColumnType.TIMESTAMP):
        return ColumnMeaning(Meaning.DATE, f"its type is {column.type}")
    if column.type is ColumnType.TIME:
        return ColumnMeaning(Meaning.TIME, "its type is time")
    if column.type not in NUMBER_TYPES:
        return None
    unit = unit_of_column(column)
    if unit in _CURRENCIES:
        return ColumnMeaning(Meaning.MONEY, f"its unit is {unit}")
    if unit in ("%", "fraction"):
        return ColumnMeaning(Meaning.PERCENT, f"its unit is {unit}")
    if unit in _DURATIONS:
        return ColumnMeaning(Meaning.DURATION, f"its unit is {unit}")
    return _of_numbers(column, profile)


def _of_numbers(column: Column, profile: ColumnProfile | None) -> ColumnMeaning:
    kind = measure_kind(column, profile)
    if kind is MeasureKind.IDENTIFIER:
        return ColumnMeaning(Meaning.IDENTIFIER, "its name is that of a code, a year or a number of a thing")
    if _MONEY & set(name_words(column.name)):
        return ColumnMeaning(Meaning.MONEY, "its name says so")
    if kind is MeasureKind.AVERAGED:
        return ColumnMeaning(Meaning.SCORE, "its name is that of a rate, a score or a measurement")
    return ColumnMeaning(Meaning.AMOUNT, "it is a number that can be added")


def _by_name(column: Column, profile: ColumnProfile | None, table: Table | None) -> ColumnMeaning:
    words = set(name_words(column.name))
    distinct = profile.distinct if profile else 0
    present = sum(v.count for v in profile.values) if profile and profile.complete else 0
    unique = profile is not None and distinct > 1 and distinct == present
    if words & _PLACES:
        return ColumnMeaning(Meaning.PLACE, "its name is that of a place")
    if words & _NAMES_OF_PEOPLE or _is_name_of_person(words, table):
        return ColumnMeaning(Meaning.PERSON, "its name is that of a person", personal=True)
    if (
        profile is not None
        and _is_code(column, profile)
        and (unique or words & {"id", "code", "key", "no", "sku"})
    ):
        return ColumnMeaning(Meaning.IDENTIFIER, "its values are codes" + (", each once" if unique else ""))
    if profile is not None and 1 <= distinct <= _FEW_VALUES and not unique:
        return ColumnMeaning(Meaning.CATEGORY, f"it has {distinct} different values")
    return ColumnMeaning(Meaning.TEXT, "its values are texts")


def _is_name_of_person(words: set[str], table: Table | None) -> bool:
    """`customer_name`; or `name` in a table of people."""
    if "name" not in words:
        return False
    if words & {"first", "last", "full", "family", "given", "middle"} or words & _PEOPLE:
        return True
    of = {word.removesuffix("s") for word in name_words(table.name)} if table is not None else set[str]()
    return words == {"name"} and bool(of & _PEOPLE)


def _is_code(column: Column, profile: ColumnProfile) -> bool:
    values = [str(v.value) for v in profile.values[:_LOOKED_AT] if v.value is not None]
    return bool(values) and all(len(v) <= _SHORT for v in values) and bool(_most(values, _CODE.fullmatch))


def _personal(column: Column) -> str:
    words = set(name_words(column.name))
    joined = "".join(name_words(column.name))
    for names, why in _PERSONAL_WORDS:
        if words & names or joined in names:
            return why
    if {"date", "of", "birth"} <= words or {"birth", "date"} <= words:
        return "a date of birth"
    if words & {"email", "mail", "phone", "telephone", "mobile"}:
        return "a way to reach a person"
    return ""
