"""Tables of plants, fields and tracks: shipments, energy bills, inspections, crops, trains."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from datasets.generate.prng import Random, Weighted
from datasets.generate.table import Cell, CsvTable, decimal


def logistics() -> list[CsvTable]:
    rng = Random(301)
    carriers = CsvTable(
        "carriers", ("CarrierCode", "Carrier Name", "Mode", "Contract until", "CO2 g per tkm", "Preferred")
    )
    carriers.rows += [
        ("NRX", "Nordex Road", "road", date(2026, 3, 31), 62, "Y"),
        ("TGV", "Tegova Trucks", "road", date(2025, 12, 31), 71, "N"),
        ("SKY", "Skylift Cargo", "air", date(2026, 6, 30), 602, "Y"),
        ("ARO", "Aero Freight", "air", date(2025, 9, 30), 655, "N"),
        ("BLU", "Bluewater Lines", "sea", date(2027, 1, 31), 16, "Y"),
        ("RLX", "RailEx", "rail", date(2026, 9, 30), 22, "N"),
        ("HOP", "Hop Parcel", "road", date(2026, 1, 31), 84, "N"),
    ]
    draw = Weighted([("NRX", 30), ("TGV", 22), ("SKY", 12), ("ARO", 6), ("BLU", 12), ("RLX", 12)])
    days = {"NRX": 3, "TGV": 4, "SKY": 1, "ARO": 2, "BLU": 16, "RLX": 6}
    late = {"NRX": 1200, "TGV": 2600, "SKY": 700, "ARO": 1500, "BLU": 2100, "RLX": 1800}
    table = CsvTable(
        "shipments",
        ("ShipmentNo", "CarrierCode", "Origin Hub", "Dest Country", "Service", "Ship Date", "Promised Date",
         "Delivered Date", "Weight (kg)", "Volume m3", "Freight Cost EUR", "Declared Value EUR", "Damaged"),
    )  # fmt: skip
    end = date(2025, 5, 31)
    shipped = sorted(date(2024, 6, 1) + timedelta(days=rng.below(365)) for _ in range(980))
    for number, day in enumerate(shipped):
        carrier = draw.draw(rng)
        service = rng.choice(("Standard", "Standard", "Economy", "Express"))
        promise = day + timedelta(days=days[carrier] + {"Standard": 2, "Economy": 4, "Express": 1}[service])
        slip = rng.between(1, 9) if rng.chance(late[carrier]) else -rng.below(2)
        arrived = promise + timedelta(days=slip)
        weight = rng.long_tail(320) + 4
        cost = (
            1900
            + weight
            * (34 if carrier in {"SKY", "ARO"} else 11)
            * (130 if service == "Express" else 100)
            // 100
            + rng.below(900)
        )
        table.rows.append((
            5_100_001 + number, carrier, rng.choice(("Rotterdam", "Rotterdam", "Leipzig", "Lyon")),
            rng.choice(("Germany", "France", "Poland", "Spain", "Italy", "Norway")), service, day, promise,
            arrived if arrived <= end and not rng.chance(60) else None, decimal(weight * 10 + rng.below(10), 1),
            decimal(max(weight * rng.between(3, 9) // 10, 1)), decimal(cost), decimal(100 * rng.long_tail(2400) + 9900),
            1 if rng.chance(240) else 0,
        ))  # fmt: skip
    return [table, carriers]


def energy_bills() -> list[CsvTable]:
    rng = Random(302)
    sites = [
        ("Albion House", "office", 2100), ("Beech Court", "office", 3400), ("Carver Mill", "factory", 5200),
        ("Dock Road", "warehouse", 7600), ("Elm Street Shop", "retail", 420), ("Fenwick Works", "factory", 4300),
        ("Gate 9", "warehouse", 6900), ("High Street Shop", "retail", 510), ("Ivy Tower", "office", 8800),
        ("Jubilee Depot", "warehouse", 3900), ("Kings Parade Shop", "retail", 380), ("Lock Yard", "factory", 2700),
        ("Mews Office", "office", 640), ("Norton Shed", "warehouse", 2200),
    ]  # fmt: skip
    season = (150, 138, 120, 98, 80, 68, 62, 64, 78, 102, 128, 146)
    table = CsvTable(
        "energy_bills",
        ("Site", "Building type", "Billing month", "Electricity kWh", "Gas kWh", "Water m3", "Total cost (GBP)",
         "Meter read", "Floor area m2", "Occupancy %"),
    )  # fmt: skip
    for month in range(30):
        first = date(2023 + month // 12, 1 + month % 12, 1)
        for name, kind, area in sites:
            if name == "Norton Shed" and first >= date(2025, 1, 1):
                continue
            power = (
                area
                * {"office": 9, "factory": 17, "warehouse": 4, "retail": 14}[kind]
                * rng.between(85, 115)
                // 100
            )
            if name == "Fenwick Works" and first >= date(2024, 10, 1):
                power = power * 140 // 100
            gas = (
                0
                if kind == "warehouse"
                else area * 8 * season[first.month - 1] * rng.between(90, 110) // 10_000
            )
            water = area * rng.between(8, 20) // 1000
            tariff = 27 + (3 if first.year >= 2024 else 0)
            occupancy: Cell = None if rng.chance(700) else rng.between(38, 97)
            table.rows.append((
                name, kind, first, power, gas, water, decimal(power * tariff + gas * 7 + water * 310),
                "estimated" if rng.chance(1800) else "actual", area, occupancy,
            ))  # fmt: skip
    return [table]


def inspections() -> list[CsvTable]:
    rng = Random(303)
    table = CsvTable(
        "inspections",
        ("Inspection ID", "Batch", "Line", "Shift", "Inspected at", "Product code", "Sample size", "Defects",
         "Defect type", "Operator", "Oven temp C", "Cycle time (s)", "Rework", "Scrap cost $"),
    )  # fmt: skip
    day = datetime(2025, 1, 6)
    number = 0
    while day < datetime(2025, 4, 26):
        for slot in range(10 if day.weekday() < 5 else 3):
            hour = 6 + 2 * slot if slot < 9 else 0
            at = day + timedelta(hours=hour % 24, minutes=rng.below(60))
            line = rng.choice(("L1", "L2", "L2", "L3"))
            shift = "early" if 6 <= at.hour < 14 else ("late" if at.hour < 22 and at.hour >= 14 else "night")
            heat = 212 + rng.noise(6) + (5 if line == "L3" and at >= datetime(2025, 3, 10) else 0)
            sample = rng.choice((50, 80, 80, 125, 200))
            expected = sample * (
                14 + 5 * abs(heat - 212) + (9 if shift == "night" else 0) + (6 if line == "L3" else 0)
            )
            defects = rng.around(expected)
            table.rows.append((
                70_001 + number, f"B{at:%y%m}-{number // 4:04d}", line, shift, at,
                rng.choice(("PX-10", "PX-20", "PX-20", "QZ-7")), sample, defects,
                rng.choice(("scratch", "dent", "scratch", "misprint", "crack")) if defects else None,
                rng.choice(("Omar", "Petra", "Quinn", "Rosa", "Stan", "Ulla")), None if rng.chance(150) else heat,
                decimal(max(415 + rng.noise(30) + (25 if line == "L3" else 0), 300), 1),
                1 if defects > 5 and rng.chance(6000) else 0,
                decimal(defects * rng.between(140, 620)),
            ))  # fmt: skip
            number += 1
        day += timedelta(days=1)
    table.rows.sort(key=lambda row: (str(row[4]), str(row[0])))
    return [table]


def crop_yields() -> list[CsvTable]:
    rng = Random(304)
    base = {"Wheat": 78, "Barley": 66, "Maize": 94, "Rapeseed": 36, "Potatoes": 402}
    price = {"Wheat": 205, "Barley": 182, "Maize": 190, "Rapeseed": 455, "Potatoes": 148}
    counties = ("Kent", "Norfolk", "Fife", "Shropshire")
    table = CsvTable(
        "crop_yields",
        ("Farm", "County", "Crop", "Year", "Area (ha)", "Yield t/ha", "Irrigated", "Organic", "Fertiliser kg/ha",
         "Rain mm", "Price per t (£)"),
    )  # fmt: skip
    rain = {
        (county, year): 520 + rng.noise(90) + 60 * counties.index(county)
        for county in counties
        for year in range(2018, 2025)
    }
    for index in range(22):
        county = counties[index % 4]
        organic = index % 5 == 2
        crops = [crop for crop in base if rng.chance(5200)] or ["Wheat"]
        for year in range(2018, 2025):
            for crop in crops:
                wet = rain[county, year]
                watered = crop in {"Potatoes", "Maize"} and rng.chance(4500)
                feed: Cell = None if organic else rng.between(80, 240)
                amount = (
                    base[crop]
                    * (
                        100
                        + (wet - 600) // 16
                        + rng.noise(7)
                        - (22 if organic else 0)
                        + (9 if watered else 0)
                    )
                    // 100
                )
                table.rows.append((
                    f"{('Hill', 'Brook', 'Manor', 'Grange', 'Abbey', 'Mill')[index % 6]} Farm {index + 1}", county,
                    crop, year, decimal(rng.between(35, 620), 1), decimal(amount, 1),
                    "yes" if watered else "no", "yes" if organic else "no",
                    feed, wet, decimal(price[crop] * 100 * rng.between(82, 124) // 100),
                ))  # fmt: skip
    return [table]


def train_runs() -> list[CsvTable]:
    rng = Random(305)
    lines = {
        "R1": ("Aldmoor", "Brigg", 48, 18), "R2": ("Aldmoor", "Corran", 76, 34), "R5": ("Brigg", "Dunlee", 33, 9),
        "X8": ("Aldmoor", "Easterby", 112, 41),
    }  # fmt: skip
    causes = Weighted(
        [
            ("signal failure", 24),
            ("late crew", 16),
            ("weather", 18),
            ("track works", 14),
            ("passenger incident", 12),
        ]
    )
    table = CsvTable(
        "train_runs",
        ("Train", "Line", "From", "To", "Sched dep", "Actual dep", "Sched arr", "Actual arr", "Arr delay (min)",
         "Cancelled", "Delay cause", "Seats", "Pax"),
    )  # fmt: skip
    day = datetime(2025, 2, 1)
    while day < datetime(2025, 4, 11):
        storm = datetime(2025, 2, 20) <= day < datetime(2025, 2, 24)
        for line, (start, goal, minutes, tendency) in lines.items():
            for index, hour in enumerate((6, 8, 12, 16, 18)):
                if day.weekday() >= 5 and hour in {6, 16}:
                    continue
                leave = day + timedelta(hours=hour, minutes=7 + 11 * index % 50)
                out = index % 2 == 0
                seats = 420 if line == "X8" else 260
                rush = hour in {8, 16, 18} and day.weekday() < 5
                pax = min(seats * (rng.between(30, 62) + (32 if rush else 0)) // 100, seats + 20)
                gone = rng.chance(1400 if storm else 170)
                slip = (
                    rng.long_tail(tendency // 6 + 1 + (2 if rush else 0))
                    - 1
                    + (rng.between(8, 30) if storm else 0)
                )
                slip = min(slip, 170)
                depart, arrive = (
                    leave + timedelta(minutes=max(slip * rng.between(20, 80) // 100, 0)),
                    leave + timedelta(minutes=minutes),
                )
                cause = None
                if not gone and slip >= 6 and not rng.chance(800):
                    cause = "weather" if storm and rng.chance(7500) else causes.draw(rng)
                table.rows.append((
                    f"{line}-{100 + index}", line, start if out else goal, goal if out else start, leave,
                    None if gone else depart, arrive, None if gone else arrive + timedelta(minutes=slip),
                    None if gone else slip, "yes" if gone else "no", cause, seats, 0 if gone else pax,
                ))  # fmt: skip
        day += timedelta(days=1)
    table.rows.sort(key=lambda row: (str(row[4]), str(row[0])))
    return [table]
