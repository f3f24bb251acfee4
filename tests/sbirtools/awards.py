"""SBIR-like awards, always the same ones: the columns and habits of the real file, none of its content."""

from __future__ import annotations

import csv
import io
import random
from datetime import date, timedelta
from pathlib import Path

COLUMNS: tuple[str, ...] = (
    "Company",
    "Award Title",
    "Agency",
    "Branch",
    "Phase",
    "Program",
    "Agency Tracking Number",
    "Contract",
    "Proposal Award Date",
    "Contract End Date",
    "Solicitation Number",
    "Solicitation Year",
    "Solicitation Close Date",
    "Proposal Receipt Date",
    "Date of Notification",
    "Topic Code",
    "Award Year",
    "Award Amount",
    "UEI",
    "HUBZone Owned",
    "Socially and Economically Disadvantaged",
    "Women Owned",
    "Number Employees",
    "Company Website",
    "Address1",
    "Address2",
    "City",
    "State",
    "Zip",
    "Abstract",
    "Contact Name",
    "Contact Title",
    "Contact Phone",
    "Contact Email",
    "PI Name",
    "PI Title",
    "PI Phone",
    "PI Email",
    "RI Name",
    "RI POC Name",
    "RI POC Phone",
)
_BRANCHES = {
    "Department of Defense": ("Air Force", "Navy", "Army", "Missile Defense Agency"),
    "Department of Health and Human Services": ("National Institutes of Health",),
    "National Aeronautics and Space Administration": ("",),
    "Department of Energy": ("",),
    "National Science Foundation": ("",),
}
_PLACES = (
    ("Cambridge", "MA", "02139"),
    ("Boulder", "CO", "80301"),
    ("Huntsville", "AL", "35806"),
    ("San Diego", "CA", "92121"),
    ("Mayagüez", "PR", "00680"),
)
_NOUNS = "sensor laser battery vaccine antenna catalyst drone polymer alloy membrane".split()
_QUALITIES = "compact robust low-cost autonomous quantum biodegradable high-power wearable".split()
_NAMES = ("Ana Ruiz", "Ben O'Neil", "Chen Wei", "Dana Łukasz", "Émile Roy", "Farah Khan")


def awards(rows: int = 200, seed: int = 20_26) -> list[dict[str, str]]:
    chance = random.Random(seed)
    companies = [_company(chance, number) for number in range(max(1, rows // 4))]
    return [_award(chance, chance.choice(companies), number) for number in range(rows)]


def csv_bytes(rows: int = 200, seed: int = 20_26) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(awards(rows, seed))
    return text.getvalue().encode()


def write_csv(path: Path, rows: int = 200, seed: int = 20_26) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(csv_bytes(rows, seed))
    return path


def _company(chance: random.Random, number: int) -> dict[str, str]:
    city, state, zip_code = chance.choice(_PLACES)
    name = f"{chance.choice(_NOUNS).title()} {chance.choice(('Works', 'Labs', 'Systems'))} {number}"
    return {
        "Company": f"{name}{chance.choice((', Inc.', ' LLC', ''))}",
        "UEI": "".join(chance.choices("ABCDEFGHJKLMNPQRSTUVWXYZ123456789", k=12)),
        "HUBZone Owned": chance.choice("NNNY"),
        "Socially and Economically Disadvantaged": chance.choice("NNNY"),
        "Women Owned": chance.choice("NNY"),
        "Number Employees": str(chance.choice((1, 2, 5, 12, 40, 180, ""))),
        "Company Website": f"https://{name.lower().replace(' ', '')}.example",
        "Address1": f"{chance.randint(1, 999)} Main Street, Suite {chance.randint(1, 40)}",
        "Address2": "",
        "City": city,
        "State": state,
        "Zip": zip_code,
    }


def _award(chance: random.Random, company: dict[str, str], number: int) -> dict[str, str]:
    agency = chance.choice(tuple(_BRANCHES))
    phase = chance.choice(("Phase I", "Phase I", "Phase II"))
    program = chance.choice(("SBIR", "SBIR", "SBIR", "STTR"))
    begun = date(2012, 1, 1) + timedelta(days=chance.randrange(12 * 365))
    months = 6 if phase == "Phase I" else 24
    amount = chance.randint(70_000, 275_000) if phase == "Phase I" else chance.randint(500_000, 1_800_000)
    noun, quality = chance.choice(_NOUNS), chance.choice(_QUALITIES)
    contact, leader = chance.choice(_NAMES), chance.choice(_NAMES)
    return {
        **company,
        "Award Title": f"{quality.capitalize()} {noun}, for field use",
        "Agency": agency,
        "Branch": chance.choice(_BRANCHES[agency]),
        "Phase": phase,
        "Program": program,
        "Agency Tracking Number": f"{chance.choice('ABFN')}{begun.year % 100:02}-{number:05}",
        "Contract": f"{begun.year}-C-{number:04}",
        "Proposal Award Date": begun.isoformat(),
        "Contract End Date": (begun + timedelta(days=30 * months)).isoformat(),
        "Solicitation Number": f"{begun.year - 1}.{chance.randint(1, 3)}",
        "Solicitation Year": str(begun.year - 1),
        "Solicitation Close Date": (begun - timedelta(days=200)).isoformat(),
        "Proposal Receipt Date": (begun - timedelta(days=210)).isoformat(),
        "Date of Notification": "",
        "Topic Code": f"{noun[:2].upper()}{begun.year % 100:02}-{chance.randint(1, 250):03}",
        "Award Year": str(begun.year),
        "Award Amount": f"{amount}.0000",
        "Abstract": f'We propose a {quality} {noun}.\nIt is "better", cheaper, and {company["City"]} made.',
        "Contact Name": contact,
        "Contact Title": "President",
        "Contact Phone": f"(555) 010-{number % 10_000:04}",
        "Contact Email": f"contact{number}@example.org",
        "PI Name": leader,
        "PI Title": "Principal Investigator",
        "PI Phone": f"(555) 011-{number % 10_000:04}",
        "PI Email": f"pi{number}@example.org",
        "RI Name": "University of Examples" if program == "STTR" else "",
        "RI POC Name": chance.choice(_NAMES) if program == "STTR" else "",
        "RI POC Phone": "",
    }
