"""Tables of public life: hospital, school, homes for sale, insurance claims, donations."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from datasets.generate.prng import Random, Weighted
from datasets.generate.table import Cell, CsvTable, decimal


def hospital() -> list[CsvTable]:
    rng = Random(401)
    wards = CsvTable("wards", ("ward_code", "ward_name", "floor", "beds", "head_nurse"))
    wards.rows += [
        ("CAR", "Cardiology", 3, 28, "Hannah Bell"), ("ORT", "Orthopaedics", 2, 34, "Femi Ade"),
        ("PED", "Paediatrics", 1, 22, "Lucy Tran"), ("MAT", "Maternity", 1, 18, "Carmen Ruiz"),
        ("NEU", "Neurology", 4, 16, "Piotr Zak"), ("GEN", "General Medicine", 2, 40, "Susan Holt"),
        ("ONC", "Oncology", 4, 14, "Anil Rao"), ("BUR", "Burns Unit", 5, 6, "Maeve Quin"),
    ]  # fmt: skip
    draw = Weighted([("CAR", 18), ("ORT", 20), ("PED", 14), ("MAT", 13), ("NEU", 9), ("GEN", 20), ("ONC", 6)])
    groups = {
        "CAR": ("heart failure", "arrhythmia", "infarction"), "ORT": ("hip fracture", "knee surgery", "back pain"),
        "PED": ("asthma", "infection", "appendicitis"), "MAT": ("birth", "birth", "complication"),
        "NEU": ("stroke", "epilepsy"), "GEN": ("pneumonia", "infection", "diabetes"),
        "ONC": ("chemotherapy", "surgery"),
    }  # fmt: skip
    stay = {"CAR": 120, "ORT": 150, "PED": 60, "MAT": 70, "NEU": 190, "GEN": 110, "ONC": 140}
    table = CsvTable(
        "admissions",
        ("admission_no", "patient_id", "ward_code", "admitted_at", "discharged_at", "age", "sex", "diagnosis",
         "emergency", "readmit_30d", "bill_eur", "pain_score", "insurer"),
    )  # fmt: skip
    end = datetime(2025, 6, 15, 18)
    arrivals = sorted(datetime(2025, 1, 1) + timedelta(minutes=rng.below(165 * 1440)) for _ in range(760))
    for number, at in enumerate(arrivals):
        ward = draw.draw(rng)
        age = (
            rng.between(0, 16)
            if ward == "PED"
            else (rng.between(19, 43) if ward == "MAT" else rng.between(24, 92))
        )
        emergency = rng.chance(2500 if ward in {"MAT", "ONC"} else 5200)
        hours = stay[ward] * (70 + age // 2 + rng.noise(28)) // 100 + (24 if emergency else 0)
        left = at + timedelta(hours=max(hours, 8), minutes=rng.below(60))
        out = left if left <= end else None
        bill: Cell = decimal(hours * rng.between(2300, 4100) + 45_000) if out else None
        table.rows.append((
            20_250_001 + number, 310_000 + rng.below(640) * 3, ward, at, out, age,
            "F" if ward == "MAT" or rng.chance(4900) else "M", rng.choice(groups[ward]), "yes" if emergency else "no",
            1 if out and rng.chance(1150 if emergency else 600) else 0, bill,
            rng.between(0, 8) if out and rng.chance(7200) else None,
            rng.choice(("public", "public", "public", "private", "self-pay")),
        ))  # fmt: skip
    return [table, wards]


def school() -> list[CsvTable]:
    rng = Random(402)
    students = CsvTable(
        "students",
        ("StudentNo", "Student name", "Class", "Gender", "DOB", "Bus rider", "Free lunch", "Guardian e-mail"),
    )
    first = tuple(
        "Aisha Ben Chiara Dan Ella Faisal Grace Hamid Isla Jack Kofi Lily Mia Noah Omar Poppy Reza Seth".split()
    )
    last = tuple("Adams Begum Clarke Doyle Evans Flynn Grant Hughes Islam Jones".split())
    for number in range(132):
        form = ("7A", "7B", "8A", "8B", "9A", "9B")[number // 22]
        born = date(2013 - (number // 44), 9, 1) - timedelta(days=1 + rng.below(364))
        name = f"{first[number % 18]} {last[(number * 7 + number // 18) % 10]}"
        mail = None if rng.chance(900) else f"{name.split()[1].lower()}{number}@example.org"
        students.rows.append((
            1100 + number, name, form, rng.choice(("F", "M")), born, "Y" if rng.chance(4100) else "N",
            "Y" if rng.chance(2200) else "N", mail,
        ))  # fmt: skip
    grades = CsvTable("grades", ("StudentNo", "Subject", "Term", "Score", "Absences", "Teacher"))
    teachers = {
        "Maths": "Mr Hale",
        "English": "Ms Orr",
        "Science": "Dr Pike",
        "History": "Ms Vane",
        "Art": "Mr Lowe",
    }
    for row in students.rows:
        talent = rng.noise(11)
        lunch = row[6] == "Y"
        for subject, teacher in teachers.items():
            for term in ("Autumn 2024", "Spring 2025", "Summer 2025"):
                away = rng.below(4) * rng.below(3)
                score = (
                    66
                    + talent
                    + rng.noise(9)
                    - 2 * away
                    - (4 if lunch else 0)
                    - (5 if subject == "Maths" else 0)
                )
                score += {"Autumn 2024": 0, "Spring 2025": 1, "Summer 2025": 3}[term]
                absent: Cell = None if rng.chance(250) else min(max(score, 8), 100)
                grades.rows.append((row[0], subject, term, absent, away, teacher))
    return [grades, students]


def listings() -> list[CsvTable]:
    rng = Random(403)
    districts = {"Altstadt": 71, "Hafen": 62, "Nordpark": 48, "Sonnental": 43, "Westend": 56}
    streets = ("Lindenweg", "Hauptstr.", "Am Markt", "Rosengasse", "Bahnhofstr.", "Seeblick")
    blurbs = ("Bright corner flat with garden view", "Needs renovation", "Recently renovated, new kitchen",
              "Quiet street, near school",
              "Penthouse with lake view", "Garden and garage",
              "Ideal for investors, rented out", "Fitted kitchen, lift")  # fmt: skip
    table = CsvTable(
        "listings",
        ("Listing", "Address", "District", "Type", "Rooms", "Size (sqm)", "Year built", "Energy class", "Balcony",
         "Listed on", "Asking price (k€)", "Sold on", "Sold price (k€)", "Agent", "Description"),
    )  # fmt: skip
    end = date(2025, 9, 14)
    for number in range(340):
        district = rng.choice(tuple(districts))
        kind = rng.choice(("flat", "flat", "flat", "house", "studio", "loft"))
        size = {"flat": 74, "house": 138, "studio": 31, "loft": 96}[kind] + rng.noise(
            14 if kind != "studio" else 4
        )
        asking = size * districts[district] * rng.between(84, 118) // 100
        listed = date(2024, 1, 10) + timedelta(days=rng.below(600))
        sold = listed + timedelta(days=12 + rng.long_tail(70))
        gone = sold <= end and rng.chance(8200)
        table.rows.append((
            f"IM-{4400 + 3 * number}", f"{rng.choice(streets)} {rng.between(1, 140)}", district, kind,
            1 if kind == "studio" else max(size // 27, 1), size, 1902 + rng.below(123),
            None if rng.chance(1400) else rng.choice(("A", "B", "C", "D", "D", "E", "F", "G")),
            "yes" if rng.chance(4600) else "no",
            listed, decimal(asking, 1), sold if gone else None,
            decimal(asking * rng.between(88, 106) // 100, 1) if gone else None,
            rng.choice(("Busch", "Celik", "Dorn", "Engel", "Falk")), rng.choice(blurbs) if rng.chance(8500) else None,
        ))  # fmt: skip
    return [table]


def claims() -> list[CsvTable]:
    rng = Random(404)
    lines = Weighted([("Motor", 46), ("Home", 28), ("Travel", 18), ("Liability", 8)])
    size = {"Motor": 2400, "Home": 3600, "Travel": 700, "Liability": 5200}
    table = CsvTable(
        "claims",
        ("Claim No", "Policy No", "LOB", "Region", "Date of loss", "Reported", "Settled", "Status", "Claimed amt",
         "Paid amt", "Reserve", "Deductible", "Adjuster", "Fraud flag"),
    )  # fmt: skip
    end = date(2025, 6, 30)
    for number in range(540):
        line = lines.draw(rng)
        loss = date(2023, 7, 1) + timedelta(days=rng.below(720))
        reported = loss + timedelta(days=rng.long_tail(7))
        settled = reported + timedelta(days=9 + rng.long_tail(48 if line != "Liability" else 130))
        claimed = max(rng.long_tail(size[line]), 90)
        deductible = rng.choice((0, 150, 250, 250, 500, 1000))
        fraud = rng.chance(520)
        done = settled <= end
        rejected = done and rng.chance(5600 if fraud else 900)
        paid = max(claimed - deductible, 0) * rng.between(70, 100) // 100
        status = "open" if not done else ("rejected" if rejected else "paid")
        table.rows.append((
            f"CL-{230_500 + number}", 8_800_000 + rng.below(430) * 11, line,
            rng.choice(("North", "South", "South", "East", "West")),
            loss, min(reported, end), settled if done else None, status, claimed, paid if status == "paid" else None,
            0 if done else max(claimed - deductible, 0), deductible,
            rng.choice(("Yilmaz", "Novotny", "Ferrari", "Bakker")),
            "Y" if fraud else "N",
        ))  # fmt: skip
    return [table]


def charity() -> list[CsvTable]:
    rng = Random(405)
    donors = CsvTable(
        "donors",
        ("donor_id", "donor_name", "donor_type", "city", "first_contact", "email_opt_in", "birth_year"),
    )
    names = tuple(
        "Abbott Baker Chen Dunn Ellis Ford Gill Hunt Irwin Joyce Khan Lowe Mann North Owens Price Reid Shah".split()
    )
    for number in range(240):
        kind = "company" if number % 11 == 3 else ("foundation" if number % 29 == 7 else "individual")
        person = f"{names[number % 18]}, {'ABCDEFGHJKLMNP'[number // 18]}."
        company = f"{names[number % 18]} {'Ltd' if number < 120 else '& Co'}"
        name = {"company": company, "foundation": f"{names[number % 18]} Trust"}.get(kind, person)
        donors.rows.append((
            5000 + number, name, kind, rng.choice(("Leeds", "York", "Hull", "Leeds", "Sheffield")),
            date(2018, 1, 15) + timedelta(days=rng.below(2500)), "yes" if rng.chance(5900) else "no",
            1938 + rng.below(66) if kind == "individual" and rng.chance(7400) else None,
        ))  # fmt: skip
    gifts = CsvTable(
        "donations",
        ("gift_id", "donor_id", "gift_date", "amount_gbp", "appeal", "method", "gift_aid", "recurring"),
    )
    kinds = {row[0]: str(row[2]) for row in donors.rows}
    days = sorted(date(2022, 4, 6) + timedelta(days=rng.below(1160)) for _ in range(1150))
    for number, day in enumerate(days):
        donor = 5000 + rng.skewed(214)
        kind = kinds[donor]
        regular = kind == "individual" and rng.chance(3800)
        amount = {"individual": 2500, "company": 42_000, "foundation": 260_000}[kind]
        amount = amount * rng.between(20, 260) // 100 // 500 * 500 + 500
        appeal = rng.choice(("Winter Shelter", "Food Bank", "General", "Youth Club", "General"))
        if day.month in {11, 12} and rng.chance(5000):
            appeal = "Winter Shelter"
        gifts.rows.append((
            1 + number, donor, day, decimal(1000 if regular else amount), appeal,
            "direct debit" if regular else rng.choice(("card", "card", "cheque", "bank transfer", "cash")),
            "yes" if kind == "individual" and rng.chance(6600) else "no", 1 if regular else 0,
        ))  # fmt: skip
    return [gifts, donors]
