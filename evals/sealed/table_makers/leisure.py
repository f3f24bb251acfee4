"""Tables of places people go to: gym, restaurants, hotels, a library, football grounds."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from datasets.generate.prng import Random, Weighted
from datasets.generate.table import CsvTable, decimal


def gym_members() -> list[CsvTable]:
    rng = Random(201)
    plans = Weighted([("Basic", 44), ("Plus", 28), ("Premium", 16), ("Student", 12)])
    fee = {"Basic": 2499, "Plus": 3499, "Premium": 5499, "Student": 1899}
    clubs = Weighted([("Camden", 34), ("Leith", 26), ("Didsbury", 22), ("Clifton", 18)])
    names = tuple(
        "Amy Bilal Chloe Dev Erin Faye Gareth Holly Imran Jo Kai Lena Mo Nia Owen Priti Ross Sian Ted".split()
    )
    table = CsvTable(
        "gym_members",
        ("Member #", "First name", "Plan", "Home club", "Joined", "Cancelled on", "Monthly fee £", "Visits last 30d",
         "Last visit", "Age", "PT sessions", "Referred by", "On freeze"),
    )  # fmt: skip
    today = date(2025, 8, 31)
    for number in range(410):
        plan = plans.draw(rng)
        joined = date(2021, 3, 1) + timedelta(days=1640 - 1640 * rng.skewed(1640) // 1640)
        left = joined + timedelta(days=45 + rng.below(1500))
        cancelled = left if left <= today and rng.chance(5200) else None
        frozen = cancelled is None and rng.chance(500)
        visits = (
            0 if cancelled or frozen else rng.between(0, 9) + (rng.between(2, 9) if plan == "Premium" else 0)
        )
        last = (
            None
            if rng.chance(600)
            else (cancelled or today) - timedelta(days=rng.below(20) if visits else 31 + rng.below(40))
        )
        if last and last < joined:
            last = joined
        table.rows.append((
            4001 + number, rng.choice(names), plan, clubs.draw(rng), joined, cancelled,
            decimal(fee[plan] - (500 if rng.chance(900) else 0)), visits, last,
            rng.between(18, 25) if plan == "Student" else rng.between(19, 71),
            rng.between(1, 24) if plan == "Premium" and rng.chance(7000)
            else (rng.between(1, 6) if rng.chance(900) else 0),
            4001 + rng.below(number) if number > 20 and rng.chance(2300) else None, "Y" if frozen else "N",
        ))  # fmt: skip
    return [table]


def restaurant_checks() -> list[CsvTable]:
    rng = Random(202)
    branches = Weighted([("Harbour", 38), ("Old Town", 34), ("Station", 28)])
    servers = {
        "Harbour": ("Nora", "Luca", "Pia"),
        "Old Town": ("Sam", "Ines", "Teo"),
        "Station": ("Vera", "Joon"),
    }
    hours = Weighted(
        [(11, 3), (12, 14), (13, 13), (14, 5), (17, 4), (18, 12), (19, 20), (20, 18), (21, 9), (22, 2)]
    )
    comments = ("Birthday dessert", "Nut allergy", "Asked for window table", "Complained about cold soup",
                "Complaint: slow service", "Vegan menu", "High chair needed",
                "Sent compliments to the chef")  # fmt: skip
    table = CsvTable(
        "restaurant_checks",
        ("check_id", "opened_at", "closed_at", "branch", "server", "table_no", "covers", "takeaway", "food_total",
         "drinks_total", "tip", "payment", "comment"),
    )  # fmt: skip
    opened: list[datetime] = []
    day = date(2025, 4, 1)
    while day <= date(2025, 6, 30):
        for _ in range(rng.around((13, 11, 13, 14, 21, 26, 17)[day.weekday()] * 1000)):
            opened.append(datetime(day.year, day.month, day.day, hours.draw(rng), 5 * rng.below(12)))
        day += timedelta(days=1)
    for number, at in enumerate(sorted(opened)):
        branch = branches.draw(rng)
        takeaway = rng.chance(2600 if branch == "Station" else 900)
        covers = rng.between(1, 2) if takeaway else rng.choice((1, 2, 2, 2, 2, 3, 4, 4, 5, 6, 8))
        dinner = at.hour >= 17
        food = covers * (1350 + (700 if dinner else 0) + rng.noise(260))
        drinks = (
            0 if takeaway and rng.chance(7000) else covers * (320 + (430 if dinner else 0) + rng.noise(110))
        )
        payment = rng.choice(("card", "card", "card", "cash", "voucher"))
        tip = 0 if takeaway or payment == "voucher" else (food + drinks) * rng.between(0, 14) // 100
        stay = rng.between(6, 25) if takeaway else 38 + 6 * covers + (26 if dinner else 0) + rng.noise(14)
        table.rows.append((
            300_001 + number, at, at + timedelta(minutes=stay), branch, rng.choice(servers[branch]),
            None if takeaway else rng.between(1, 24), covers, 1 if takeaway else 0, decimal(food),
            decimal(max(drinks, 0)), decimal(tip), payment, rng.choice(comments) if rng.chance(900) else None,
        ))  # fmt: skip
    return [table]


def hotel_bookings() -> list[CsvTable]:
    rng = Random(203)
    hotels = Weighted([("Seaview Brighton", 30), ("Castle Edinburgh", 38), ("Canal Bristol", 32)])
    rooms = Weighted([("Single", 18), ("Double", 46), ("Twin", 20), ("Suite", 9), ("Family", 7)])
    rate = {"Single": 72, "Double": 98, "Twin": 95, "Suite": 189, "Family": 134}
    channels = Weighted([("Website", 33), ("Booking portal", 41), ("Phone", 12), ("Travel agent", 14)])
    wishes = ("late arrival", "cot in room", "quiet room please", "vegan breakfast", "parking space", "early check-in",
              "high floor, quiet side", "extra pillow")  # fmt: skip
    table = CsvTable(
        "hotel_bookings",
        ("Booking Ref", "Hotel", "Room type", "Channel", "Booked on", "Arrival", "Nights", "Adults", "Children",
         "Rate per night", "Board", "Status", "Guest country", "Deposit paid", "Special requests"),
    )  # fmt: skip
    today = date(2025, 7, 20)
    for number in range(860):
        booked = date(2024, 7, 1) + timedelta(days=rng.below(385))
        channel = channels.draw(rng)
        arrival = booked + timedelta(days=rng.long_tail(24 if channel != "Travel agent" else 60) % 240)
        room = rooms.draw(rng)
        nights = rng.choice((1, 1, 2, 2, 2, 3, 3, 4, 5, 7))
        summer = 124 if arrival.month in {6, 7, 8} else 100
        deposit = rng.chance(5600)
        status = "booked" if arrival > today else "checked-out"
        if rng.chance(1100 if deposit else 2700):
            status = "cancelled"
        elif status == "checked-out" and not deposit and rng.chance(500):
            status = "no-show"
        elif status == "checked-out" and arrival + timedelta(days=nights) > today:
            status = "in-house"
        table.rows.append((
            f"HB{24_017 + 13 * number:06d}", hotels.draw(rng), room, channel, booked, arrival, nights,
            1 if room == "Single" else rng.choice((1, 2, 2, 2)), rng.between(1, 3) if room == "Family" else 0,
            decimal(rate[room] * summer + 10 * rng.noise(90)),
            rng.choice(("room only", "breakfast", "breakfast", "half board")),
            status, rng.choice(("UK", "UK", "UK", "US", "DE", "FR", "NL", "IE")), "yes" if deposit else "no",
            rng.choice(wishes) if rng.chance(1500) else None,
        ))  # fmt: skip
    table.rows.sort(key=lambda row: (str(row[4]), str(row[0])))
    return [table]


def library() -> list[CsvTable]:
    rng = Random(204)
    genres = Weighted(
        [("Crime", 22), ("Novel", 26), ("Children", 20), ("Science", 12), ("History", 12), ("Travel", 8)]
    )
    heads = tuple("Silent Golden Last Hidden Winter Broken Lost Little Northern Paper Secret Red".split())
    tails = tuple("River Garden Letter House Road Island Clock Mountain Bridge Orchard Harbour Train".split())
    authors = tuple(
        f"{first} {last}"
        for first in ("M.", "J.", "L.", "S.", "R.", "K.")
        for last in ("Hartley", "Okoye", "Brandt", "Varga", "Nilsen")
    )
    books = CsvTable("books", ("book_id", "title", "author", "genre", "published", "pages", "copies"))
    for number in range(130):
        books.rows.append((
            2001 + number, f"The {heads[number % 12]} {tails[(number * 5 + number // 12) % 12]}", rng.choice(authors),
            genres.draw(rng), 1968 + rng.below(57), rng.between(90, 720), rng.choice((1, 1, 2, 2, 3, 5)),
        ))  # fmt: skip
    patrons = CsvTable("patrons", ("patron_id", "name", "category", "joined", "postcode", "email_on_file"))
    first = tuple("Alma Boris Cleo Dina Emil Frida Georg Hedda Ivan Jule Karl Lotte Max Nora Otto".split())
    last = tuple("Ahrens Bauer Conrad Decker Ernst Fuchs Groß Huber".split())
    for number in range(115):
        category = rng.choice(("adult", "adult", "adult", "child", "student", "senior"))
        patrons.rows.append((
            600 + number, f"{first[number % 15]} {last[(number // 15) % 8]}", category,
            date(2017, 5, 2) + timedelta(days=rng.below(2900)), 20_095 + 12 * rng.below(6),
            "no" if category == "child" or rng.chance(2000) else "yes",
        ))  # fmt: skip
    loans = CsvTable(
        "loans",
        ("loan_id", "book_id", "patron_id", "loaned_on", "due_on", "returned_on", "renewals", "fine_eur"),
    )
    end = date(2025, 10, 12)
    starts = sorted(date(2024, 9, 1) + timedelta(days=rng.below(407)) for _ in range(1250))
    for number, start in enumerate(starts):
        renewals = rng.choice((0, 0, 0, 0, 1, 1, 2))
        due = start + timedelta(days=21 + 14 * renewals)
        back = start + timedelta(
            days=rng.between(3, 20 + 14 * renewals) + (rng.between(4, 45) if rng.chance(1700) else 0)
        )
        returned = None if back > end or rng.chance(120) else back
        late = (returned - due).days if returned and returned > due else 0
        loans.rows.append((
            1 + number, 2001 + rng.skewed(124), 600 + rng.skewed(104), start, due, returned, renewals,
            decimal(25 * late),
        ))  # fmt: skip
    return [loans, books, patrons]


def football_matches() -> list[CsvTable]:
    rng = Random(205)
    teams = ("Ashford Rovers", "Bexley Town", "Corby Athletic", "Dover United", "Ely City", "Frome Wanderers",
             "Goole Albion", "Hythe FC", "Ilkley Park", "Jarrow Vale", "Kendal County", "Louth Borough")  # fmt: skip
    strength = {team: 14 - index for index, team in enumerate(teams)}
    ground = {team: 900 + 310 * ((index * 7) % 12) for index, team in enumerate(teams)}
    referees = ("P. Ogden", "M. Quill", "S. Farr", "T. Iqbal", "R. Doyle", "L. Stead")
    table = CsvTable(
        "football_matches",
        (
            "Matchday",
            "Date",
            "Kick-off",
            "Home",
            "Away",
            "HG",
            "AG",
            "Att.",
            "Referee",
            "Yellow cards",
            "Red cards",
        ),
    )
    rotation = list(teams[1:])
    rounds: list[list[tuple[str, str]]] = []
    for number in range(11):
        line = [teams[0], *rotation]
        pairs = [(line[i], line[11 - i]) for i in range(6)]
        rounds.append(pairs if number % 2 == 0 else [(away, home) for home, away in pairs])
        rotation = rotation[-1:] + rotation[:-1]
    rounds += [[(away, home) for home, away in pairs] for pairs in rounds]
    for number, pairs in enumerate(rounds):
        saturday = date(2024, 8, 10) + timedelta(
            days=7 * number + (28 if number >= 11 else 0) + 3 * (number == 15)
        )
        for index, (home, away) in enumerate(pairs):
            day = saturday + timedelta(days=1 if index == 5 and saturday.weekday() == 5 else 0)
            edge = strength[home] - strength[away] + 3
            goals = max((rng.below(34) + edge) // 10, 0), max((rng.below(30) - edge) // 10, 0)
            crowd = ground[home] + 28 * strength[away] + rng.noise(140)
            table.rows.append((
                number + 1, day, "15:00" if index < 4 else ("17:30" if index == 4 else "14:00"), home, away, *goals,
                None if number == 6 and index == 2 else crowd, rng.choice(referees), rng.below(7),
                1 if rng.chance(1400) else 0,
            ))  # fmt: skip
    return [table]
