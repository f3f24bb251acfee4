"""A year of support tickets with their service levels and satisfaction scores.

What is in the data to be found: urgent tickets and tickets from Asia Pacific break their service
level far more often; an outage on 17 June floods the desk; satisfaction falls when the target is
missed; most people leave no score.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta

from .prng import Random, Weighted
from .table import Cell, CsvTable

FIRST_DAY = date(2025, 1, 1)
AS_OF = datetime(2025, 12, 31, 23, 59, 59)
OUTAGE_DAYS = (date(2025, 6, 17), date(2025, 6, 18))

_TICKETS_PER_DAY = 38_500  # thousandths
_MONTH_PERCENT = (108, 98, 96, 95, 97, 102, 90, 88, 101, 105, 118, 124)
_WEEKDAY_PERCENT = (132, 121, 112, 108, 99, 63, 58)
_HOUR_WEIGHTS = (3, 2, 2, 2, 3, 5, 9, 16, 28, 38, 41, 39, 33, 36, 39, 37, 32, 26, 19, 15, 12, 9, 6, 4)
_HOUR = Weighted(list(enumerate(_HOUR_WEIGHTS)))

_PRIORITY = Weighted([("low", 24), ("normal", 47), ("high", 21), ("urgent", 8)])
_OUTAGE_PRIORITY = Weighted([("low", 4), ("normal", 22), ("high", 41), ("urgent", 33)])
_TARGET_MINUTES = {"low": 7200, "normal": 2880, "high": 960, "urgent": 240}
# How long a ticket typically takes, in thousandths of its target: the cause of the breaches.
_EFFORT = {"low": 95, "normal": 165, "high": 290, "urgent": 480}
_REGION = Weighted([("EMEA", 38), ("North America", 34), ("Asia Pacific", 19), ("Latin America", 9)])
_REGION_PERCENT = {"EMEA": 85, "North America": 78, "Asia Pacific": 190, "Latin America": 122}
_CHANNEL = Weighted([("email", 37), ("chat", 31), ("web form", 20), ("phone", 12)])
_CHANNEL_PERCENT = {"email": 110, "chat": 80, "web form": 112, "phone": 88}
_CATEGORY = Weighted(
    [("how-to", 27), ("billing", 21), ("login", 17), ("bug", 16), ("integration", 10),
     ("feature request", 6), ("outage", 3)]
)  # fmt: skip
_CATEGORY_PERCENT = {"bug": 130, "integration": 140, "outage": 120, "login": 75, "how-to": 85}
_TIER = Weighted([("free", 46), ("pro", 39), ("enterprise", 15)])
_FIRST_NAMES = ("Amara", "Bruno", "Chen", "Divya", "Elif", "Farid", "Greta", "Hiro", "Ines", "Jonas")
_LAST_NAMES = {
    "EMEA": ("Okafor", "Lindqvist"),
    "North America": ("Carter",),
    "Asia Pacific": ("Tanaka",),
    "Latin America": ("Souza",),
}
_AGENTS = {
    region: [f"{first} {last}" for last in lasts for first in _FIRST_NAMES[: 6 + 2 * len(lasts)]]
    for region, lasts in _LAST_NAMES.items()
}

COLUMNS = (
    "ticket_id", "created_at", "first_response_at", "resolved_at", "status", "priority", "category",
    "channel", "region", "customer_tier", "agent", "sla_target_minutes", "first_response_minutes",
    "resolution_minutes", "sla_breached", "reopened", "csat",
)  # fmt: skip


def tables() -> list[CsvTable]:
    rng = Random(0x5059)
    opened: list[datetime] = []
    day = FIRST_DAY
    while day <= AS_OF.date():
        for _ in range(rng.around(_expected_tickets(day))):
            hour, minute, second = _HOUR.draw(rng), rng.below(60), rng.below(60)
            opened.append(datetime(day.year, day.month, day.day, hour, minute, second))
        day += timedelta(days=1)
    opened.sort()
    return [CsvTable("tickets", COLUMNS, [_ticket(rng, 50_001 + n, at) for n, at in enumerate(opened)])]


def _expected_tickets(day: date) -> int:
    growth = 100 + 22 * (day - FIRST_DAY).days // 365
    season = _MONTH_PERCENT[day.month - 1] * _WEEKDAY_PERCENT[day.weekday()]
    tickets = _TICKETS_PER_DAY * season * growth // 10**6
    return tickets * 5 if day in OUTAGE_DAYS else tickets


def _ticket(rng: Random, ticket_id: int, created: datetime) -> tuple[Cell, ...]:
    flooded = created.date() in OUTAGE_DAYS
    category = "outage" if flooded and rng.chance(7600) else _CATEGORY.draw(rng)
    priority = (_OUTAGE_PRIORITY if category == "outage" else _PRIORITY).draw(rng)
    region, channel = _REGION.draw(rng), _CHANNEL.draw(rng)
    agents = _AGENTS[region]
    agent = rng.below(len(agents))
    target = _TARGET_MINUTES[priority]

    effort = _EFFORT[priority] * _REGION_PERCENT[region] * _CHANNEL_PERCENT[channel] // 10_000
    effort = effort * _CATEGORY_PERCENT.get(category, 100) // 100
    # Agents differ, the seasoned ones being quicker; during an outage everybody is slow.
    effort = effort * (80 + 5 * (agent % 10)) // 100 * (220 if flooded else 100) // 100
    minutes = max(rng.long_tail(target * effort // 1000), 4)
    reply = max(minutes * rng.between(5, 45) // 100, 1)

    replied = created + timedelta(minutes=reply, seconds=rng.below(60))
    resolved = created + timedelta(minutes=minutes, seconds=rng.below(60))
    waiting = minutes if resolved <= AS_OF else (AS_OF - created) // timedelta(minutes=1)
    is_resolved, is_answered = resolved <= AS_OF, replied <= AS_OF
    breached = waiting > target
    if is_resolved:
        status = "closed" if (AS_OF - resolved).days >= 7 else "resolved"
    else:
        status = "pending" if is_answered else "open"
    return (
        ticket_id, created, replied if is_answered else None, resolved if is_resolved else None, status,
        priority, category, channel, region, _TIER.draw(rng), agents[agent] if is_answered else None, target,
        reply if is_answered else None, minutes if is_resolved else None, breached,
        is_resolved and rng.chance(1100 if breached else 420), _csat(rng, is_resolved, breached, agent),
    )  # fmt: skip


def _csat(rng: Random, is_resolved: bool, breached: bool, agent: int) -> int | None:
    if not is_resolved or not rng.chance(5200 if breached else 3900):
        return None
    if breached:
        return rng.choice((1, 1, 1, 2, 2, 3, 3, 4, 5))
    happy = rng.choice((3, 4, 4, 4, 5, 5, 5, 5))
    return max(happy - (agent % 10 > 6 and rng.chance(4000)), 1)
