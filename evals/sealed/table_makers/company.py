"""Tables of a company's own departments: people, campaigns, subscriptions, calls, web traffic."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from datasets.generate.prng import Random, Weighted
from datasets.generate.table import Cell, CsvTable, decimal

_FIRST = tuple(
    "Ada Ben Carla Dario Eve Finn Gina Hugo Iris Jan Kira Leo Mona Nils Olga Paul Rita Sven Tara Uma Vito Wanda".split()
)
_LAST = tuple(
    "Abel Brandt Costa Dietz Egger Frost Gruber Hale Ivanov Jensen Keller Lopez Meyer Novak Ortiz Petit Quist".split()
)


def hr_employees() -> list[CsvTable]:
    rng = Random(101)
    titles = {
        "Sales": ("Account Executive", "Sales Manager", "Sales Assistant"),
        "Engineering": ("Software Engineer", "Senior Engineer", "QA Analyst"),
        "Finance": ("Accountant", "Controller"),
        "Operations": ("Dispatcher", "Team Lead", "Warehouse Clerk"),
        "HR": ("Recruiter", "HR Partner"),
        "Marketing": ("Content Editor", "Campaign Manager"),
    }
    depts = Weighted(
        [("Sales", 24), ("Engineering", 30), ("Finance", 10), ("Operations", 22), ("HR", 6), ("Marketing", 8)]
    )
    sites = Weighted([("Hamburg", 40), ("Leeds", 25), ("Porto", 20), ("Gdansk", 15)])
    contracts = Weighted([("permanent", 76), ("fixed-term", 17), ("intern", 7)])
    table = CsvTable(
        "hr_employees",
        ("Employee ID", "Full Name", "Dept", "Job Title", "Location", "Hire Date", "Termination Date", "Contract",
         "FTE %", "Annual Salary (EUR)", "Manager ID", "Remote", "Last Review Score", "Sick Days 2024", "Birth Year"),
    )  # fmt: skip
    managers: list[int] = []
    for number in range(238):
        dept, contract = depts.draw(rng), contracts.draw(rng)
        title = rng.choice(titles[dept])
        hired = date(2012, 2, 1) + timedelta(days=rng.below(4870))
        if contract == "intern":
            hired = date(2024, 9, 1) + timedelta(days=rng.below(280))
        left = None
        if contract != "intern" and rng.chance(1500):
            left = min(
                hired + timedelta(days=200 + rng.below(2600)),
                date(2025, 6, 27) - timedelta(days=rng.below(500)),
            )
            left = left if left > hired else None
        salary = {"Sales": 52, "Engineering": 64, "Finance": 56, "Operations": 41, "HR": 47, "Marketing": 46}[
            dept
        ]
        salary = (
            19_200 + 60 * rng.below(20)
            if contract == "intern"
            else salary * 1000 + 150 * rng.noise(60) + 31 * rng.below(300)
        )
        if "Manager" in title or title in {"Team Lead", "Senior Engineer", "Controller"}:
            salary += 14_000
        employee = 10_011 + 7 * number
        boss = rng.choice(managers) if len(managers) >= 12 else None
        if number < 12:
            managers.append(employee)
        score = (
            None
            if contract == "intern" or rng.chance(1300)
            else decimal(min(max(36 + rng.noise(7), 12), 50), 1)
        )
        table.rows.append((
            employee, f"{rng.choice(_FIRST)} {rng.choice(_LAST)}", dept, title, sites.draw(rng), hired, left, contract,
            rng.choice((100, 100, 100, 100, 80, 60, 50)), salary, boss, "yes" if rng.chance(3800) else "no", score,
            max(rng.long_tail(4) - 1, 0), 2004 - rng.below(3) if contract == "intern" else 1962 + rng.below(40),
        ))  # fmt: skip
    return [table]


def campaigns() -> list[CsvTable]:
    rng = Random(102)
    channels = Weighted([("Email", 24), ("Paid search", 26), ("Social", 28), ("Display", 14), ("Events", 8)])
    table = CsvTable(
        "campaigns",
        ("Campaign", "Channel", "Objective", "Owner", "Start", "End", "Budget (USD)", "Spend (USD)", "Impressions",
         "Clicks", "Leads", "Conversions", "Attributed revenue", "A/B test"),
    )  # fmt: skip
    themes = (
        "Spring",
        "Back to School",
        "Summer Sale",
        "Webinar",
        "Product Launch",
        "Loyalty",
        "Winback",
        "Holiday",
    )
    for number in range(96):
        channel = channels.draw(rng)
        start = date(2024, 1, 8) + timedelta(days=rng.below(530))
        length = rng.choice((6, 13, 13, 20, 27, 41))
        budget = 500 * rng.between(4, 80)
        spend = budget * rng.between(62, 118) // 100
        views: Cell = None
        clicks: Cell = None
        leads = rng.between(5, 60)
        if channel != "Events":
            seen = (
                spend
                * {"Email": 9, "Paid search": 22, "Social": 61, "Display": 130}[channel]
                * rng.between(60, 140)
                // 100
            )
            clicked = (
                seen
                * {"Email": 310, "Paid search": 260, "Social": 95, "Display": 22}[channel]
                * rng.between(60, 140)
                // 1_000_000
            )
            views, clicks, leads = seen, clicked, clicked * rng.between(4, 12) // 100
        won = leads * rng.between(8, 38) // 100
        table.rows.append((
            f"{rng.choice(themes)} {start.year % 100}-{number + 1:02d}", channel,
            rng.choice(("Awareness", "Lead generation", "Lead generation", "Retention")),
            rng.choice(("Priya", "Tom", "Lucia", "Marek")), start, start + timedelta(days=length), budget, spend, views,
            clicks, leads, won, won * rng.between(90, 420), "yes" if rng.chance(3000) else "no",
        ))  # fmt: skip
    return [table]


def saas() -> list[CsvTable]:
    rng = Random(103)
    plans = Weighted([("Starter", 46), ("Team", 34), ("Business", 15), ("Enterprise", 5)])
    price = {"Starter": 9, "Team": 14, "Business": 22, "Enterprise": 31}
    accounts = CsvTable(
        "accounts",
        ("account_id", "company", "industry", "country", "plan", "seats", "signup_date", "churn_date", "mrr_usd", "csm",
         "nps", "sso_enabled"),
    )  # fmt: skip
    invoices = CsvTable(
        "invoices", ("invoice_no", "account_id", "issued", "due", "paid_on", "amount_usd", "status")
    )
    heads = tuple(
        "Acorn Blue Cedar Delta Echo Fable Granite Harbor Indigo Juniper Kite Lumen Maple Nimbus Orbit".split()
    )
    tails = tuple("Labs Foods Logistics Media Health Systems Studio Retail Energy Partners".split())
    end = date(2025, 9, 30)
    for number in range(280):
        plan = plans.draw(rng)
        seats = {"Starter": 3, "Team": 11, "Business": 40, "Enterprise": 160}[plan] * rng.between(
            50, 220
        ) // 100 + 1
        signup = date(2023, 1, 5) + timedelta(days=rng.below(980))
        gone = signup + timedelta(days=60 + rng.below(1400))
        churn = gone if gone <= end and rng.chance(3200 if plan == "Starter" else 1500) else None
        monthly = seats * price[plan]
        account = 7001 + 3 * number
        accounts.rows.append((
            account, f"{rng.choice(heads)} {rng.choice(tails)} {number + 1}",
            rng.choice(("Retail", "Healthcare", "Logistics", "Education", "Fintech")),
            rng.choice(("US", "US", "US", "UK", "DE", "FR", "CA", "AU")), plan, seats, signup, churn, monthly,
            rng.choice(("Noor", "Felix", "Grace", "Ivo")), None if rng.chance(4500) else rng.between(0, 10),
            "true" if plan in {"Business", "Enterprise"} and rng.chance(7000) else "false",
        ))  # fmt: skip
        _invoice(rng, invoices, account, signup, churn, monthly, end)
    invoices.rows.sort(key=lambda row: (str(row[2]), str(row[1])))
    invoices.rows = [(90_001 + n, *row[1:]) for n, row in enumerate(invoices.rows)]
    return [accounts, invoices]


def _invoice(
    rng: Random, invoices: CsvTable, account: int, signup: date, churn: date | None, monthly: int, end: date
) -> None:
    """One invoice a quarter, on the first day of the quarter's first month after signup."""
    for quarter in range(11):
        issued = date(2023 + quarter // 4, 1 + 3 * (quarter % 4), 1)
        if issued <= signup or issued > end or (churn and issued > churn):
            continue
        due = issued + timedelta(days=30)
        paid = issued + timedelta(days=rng.between(2, 34) + (rng.between(10, 60) if rng.chance(1200) else 0))
        amount = decimal(monthly * 300 * rng.choice((100, 100, 100, 95, 90)) // 100)
        if rng.chance(180):
            invoices.rows.append((0, account, issued, due, None, amount, "void"))
        elif paid > end or rng.chance(250):
            invoices.rows.append((0, account, issued, due, None, amount, "overdue" if due < end else "open"))
        else:
            invoices.rows.append((0, account, issued, due, paid, amount, "paid"))


def calls() -> list[CsvTable]:
    rng = Random(104)
    queues = Weighted([("Billing", 34), ("Tech support", 38), ("Orders", 20), ("Complaints", 8)])
    talk = {"Billing": 280, "Tech support": 520, "Orders": 190, "Complaints": 610}
    hours = Weighted(list(zip(range(8, 20), (6, 11, 14, 13, 9, 10, 12, 11, 8, 5, 4, 2), strict=True)))
    agents = (
        "A. Rossi",
        "B. Kumar",
        "C. Weber",
        "D. Silva",
        "E. Chan",
        "F. Moreau",
        "G. Osei",
        "H. Lindholm",
    )
    table = CsvTable(
        "calls",
        ("call_id", "start", "queue", "agent", "wait_s", "talk_s", "hold_s", "outcome", "csat_1to5", "repeat_caller",
         "caller_country"),
    )  # fmt: skip
    starts: list[datetime] = []
    day = date(2025, 3, 3)
    while day <= date(2025, 5, 14):
        weekday = (36, 30, 28, 27, 25, 9, 0)[day.weekday()]
        for _ in range(rng.around(weekday * 1000)):
            starts.append(
                datetime(day.year, day.month, day.day, hours.draw(rng), rng.below(60), rng.below(60))
            )
        day += timedelta(days=1)
    for number, start in enumerate(sorted(starts)):
        queue = queues.draw(rng)
        wait = rng.long_tail(75 if start.hour in {10, 11, 14} else 40)
        lost = rng.chance(min(wait * 14, 6000))
        place = rng.below(len(agents))
        spoken = max(talk[queue] * (80 + 6 * place) // 100 + rng.noise(110), 25)
        outcome = rng.choice(("resolved", "resolved", "resolved", "resolved", "transferred", "callback"))
        score = None
        if not lost and rng.chance(4200):
            score = max(rng.choice((3, 4, 4, 5, 5)) - (wait > 200) - (outcome != "resolved"), 1)
        table.rows.append((
            880_001 + number, start, queue, None if lost else agents[place], wait, 0 if lost else spoken,
            0 if lost or not rng.chance(2800) else rng.between(10, 240), "abandoned" if lost else outcome, score,
            1 if rng.chance(1900) else 0, rng.choice(("IT", "IT", "FR", "DE", "ES")),
        ))  # fmt: skip
    return [table]


def web_traffic() -> list[CsvTable]:
    rng = Random(105)
    base = {"organic": 420, "paid": 210, "email": 90, "social": 160, "direct": 240}
    table = CsvTable(
        "web_traffic",
        ("date", "source", "device", "sessions", "new_users", "pageviews", "bounces", "avg_session_sec",
         "goal_completions", "txn_revenue"),
    )  # fmt: skip
    day = date(2025, 1, 1)
    while day <= date(2025, 6, 30):
        growth = 100 + (day - date(2025, 1, 1)).days // 6
        for source, size in base.items():
            for device in ("desktop", "mobile"):
                share = 45 if device == "desktop" else 55
                week = 78 if day.weekday() >= 5 else 104
                sessions = size * share * growth * week * rng.between(85, 115) // 10**8
                if source == "email" and day.weekday() in {1, 3}:
                    sessions *= 2
                bounces = (
                    sessions
                    * (
                        rng.between(30, 46)
                        + (9 if device == "mobile" else 0)
                        + (8 if source == "social" else 0)
                    )
                    // 100
                )
                goals = sessions * rng.between(8, 34) * (2 if source == "email" else 1) // 1000
                table.rows.append((
                    day, source, device, sessions, sessions * rng.between(35, 68) // 100,
                    sessions * rng.between(190, 420) // 100, bounces,
                    rng.between(45, 190) + (40 if device == "desktop" else 0),
                    goals, decimal(goals * rng.between(2200, 7800)),
                ))  # fmt: skip
        day += timedelta(days=1)
    return [table]
