"""The English that the planner knows, as tables: word forms, numbers, synonyms. Nothing about any dataset."""

from __future__ import annotations

IRREGULAR: dict[str, str] = {
    "people": "person", "persons": "person", "men": "man", "women": "woman", "children": "child",
    "won": "win", "lost": "lose", "loss": "lose", "losses": "lose", "bought": "buy", "sold": "sell", "sale": "sale",
    "sales": "sale", "spent": "spend", "paid": "pay", "made": "make", "built": "build", "wrote": "write",
    "written": "write", "born": "birth", "died": "death", "dead": "death", "left": "leave", "held": "hold",
    "ran": "run", "began": "begin", "went": "go", "gone": "go", "came": "come", "gave": "give", "took": "take",
    "taken": "take", "sent": "send", "kept": "keep", "met": "meet", "led": "lead", "grew": "grow",
    "grown": "grow", "criteria": "criterion", "indices": "index", "movies": "movy", "movie": "movy",
    "series": "series", "species": "species", "status": "status", "bus": "bus", "buses": "bus", "gas": "gas",
    "data": "data", "news": "news", "always": "always", "this": "this", "does": "do", "goes": "go",
    "pct": "percent", "percentage": "percent", "%": "percent", "num": "number", "nr": "number", "no": "number",
    "no.": "number", "#": "number", "qty": "quantity", "amt": "amount", "avg": "averag", "dept": "department",
    "yr": "year", "yrs": "year", "desc": "description", "temp": "temperatur", "pop": "population",
    "pos": "position", "mins": "minut", "min": "min", "max": "max", "hrs": "hour", "hr": "hour", "secs": "second",
    "addr": "address", "tel": "phone", "cust": "customer", "prod": "product", "cat": "category", "pts": "point",
    "ids": "id", "dob": "birth", "lat": "latitud", "lng": "longitud", "lon": "longitud", "wt": "weight",
    "est": "estimat", "ref": "referenc", "org": "organisation", "organization": "organisation",
    "organizations": "organisation", "organisations": "organisation", "colour": "color", "colours": "color",
    "cancelled": "cancel", "canceled": "cancel", "cancellation": "cancel", "cancellations": "cancel",
    "categories": "category", "countries": "country", "canceling": "cancel", "cancelling": "cancel",
    "resolution": "resolv", "resolutions": "resolv", "delivery": "deliver", "deliveries": "deliver",
    "breached": "breach", "breaches": "breach", "sold-out": "sell", "fees": "fee", "fee": "fee",
    "employees": "employe", "employee": "employe", "lives": "life", "wives": "wife", "leaves": "leave",
    "drew": "draw", "drawn": "draw", "drove": "drive", "driven": "drive", "flew": "fly", "flown": "fly",
    "spoke": "speak", "spoken": "speak", "chose": "choose", "chosen": "choose", "wore": "wear", "worn": "wear",
    "taught": "teach", "caught": "catch", "fell": "fall", "fallen": "fall", "admitted": "admission",
    "admit": "admission", "arrived": "arrival", "arrive": "arrival", "departed": "departur", "weigh": "weight",
    "weighs": "weight", "payment": "pay", "payments": "pay", "shipment": "ship", "shipments": "ship",
    "writer": "write", "writers": "write", "driver": "drive", "drivers": "drive", "owner": "own",
    "owners": "own", "seller": "sell", "sellers": "sell", "buyer": "buy", "buyers": "buy", "winner": "win",
    "winners": "win", "rated": "rating", "enrolled": "enrol", "enrollment": "enrol",
    "die": "death", "dies": "death", "growth": "grow", "children's": "child", "marriage": "marry",
    "halves": "half", "analyses": "analysis", "feet": "foot", "teeth": "tooth", "mice": "mouse",
    "attendees": "attende", "averages": "averag", "average": "averag", "mean": "averag",
    "shoes": "shoe", "shoe": "shoe", "heroes": "hero", "potatoes": "potato", "tomatoes": "tomato",
}  # fmt: skip
"""Words whose stem no ending rule gives, and abbreviations common in column names."""

KEPT = frozenset(
    "winning rating ranking building reading listing booking opening closing pricing shipping billing packing parking "
    "heating housing training wedding setting string king spring thing evening morning wing bring sing during "
    "nothing something anything everything meeting spending earning saving painting wing ceiling standing "
    "finding recording holding proceeding seed speed feed need breed bed red shed hundred".split()
)
"""Words that only look as if they had an ending."""

NUMBER_WORDS: dict[str, int] = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}

SCALES: dict[str, float] = {
    "hundred": 1e2, "dozen": 12, "thousand": 1e3, "million": 1e6, "millions": 1e6, "billion": 1e9,
}  # fmt: skip
SUFFIX_SCALES: dict[str, float] = {"k": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "bn": 1e9, "b": 1e9}

MONTHS: dict[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
            "august aug", "september sep sept", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
WEEKDAYS: dict[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "monday mondays mon", "tuesday tuesdays tue", "wednesday wednesdays wed", "thursday thursdays thu",
            "friday fridays fri", "saturday saturdays sat", "sunday sundays sun",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip

_SYNONYM_GROUPS = """
cost price fee charge
revenue income turnover sales earnings proceeds
salary pay wage compensation earnings income
profit gain
amount value total sum
quantity units pieces
customer client buyer shopper consumer
product item article goods sku
employee staff worker personnel
company firm business corporation employer
department division unit
team club squad side
player athlete sportsman
manager boss supervisor
supplier vendor provider
category kind class group
type kind sort
region area territory zone
city town municipality
country nation
geography country location
state province
location place venue site
nationality nation citizenship country
gender sex
age old
birth birthday
height tall
length long duration
duration length time minutes hours
weight heavy mass
speed fast velocity
size big area
population inhabitants residents people
date day
year season
rank position place ranking
score points result
result outcome score
rating score stars
title name
name title called
movie film picture
director filmmaker
actor star cast
author writer
genre category kind
language tongue speak
attendance crowd spectators audience
viewers audience watch
votes ballots
opponent rival against
winner champion victor
win victory
lose defeat
goal scored
doctor physician
patient case
diagnosis disease condition illness
hospital clinic
house home property
housing house home property
bedroom bed
bathroom bath
mileage miles odometer
agent representative rep
ticket case request issue
priority urgency severity
device sensor machine
temperature heat
satisfaction csat
response answer reply
resolution resolved solved
delivery shipped
shipping delivery freight
order purchase
discount rebate reduction
stock inventory
count number
email mail
phone telephone
address street
description summary
comment remark note
status state
channel medium
start begin opening
end finish close
founded established
school university college
student pupil
teacher professor instructor
course class subject
grade mark score
flight trip
airline carrier
passenger traveller
tax duty
budget funding
area surface size
elevation altitude height
capital seat
car vehicle automobile
brand make manufacturer
manufacturer maker producer
model version
colour shade
distance far
founder creator
share portion fraction
"""


def _grouped(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(line.split()) for line in text.strip().splitlines())


SYNONYM_GROUPS = _grouped(_SYNONYM_GROUPS)
"""Words that people use for each other when they refer to columns; a column with the word itself in its name wins."""
