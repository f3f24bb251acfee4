"""The awards as a pandas DataFrame in this process. A separate module, because pandas is slow to import."""

from __future__ import annotations

import pandas

from sbirtools.data import download_csv_if_missing

_AS_WRITTEN = (
    "Agency Tracking Number",
    "Contract",
    "Solicitation Number",
    "Topic Code",
    "UEI",
    "DUNS",
    "Zip",
)
"""Identifiers, which are read as text: `02139` is not a number."""
_DATES = (
    "Proposal Award Date",
    "Contract End Date",
    "Solicitation Close Date",
    "Proposal Receipt Date",
    "Date of Notification",
)


def load_sbir_dataframe() -> pandas.DataFrame:
    """All awards, one row each; downloaded first if they are not cached (about 300 MB on disk and in memory).

    Columns, as in the file: Company, Award Title, Agency, Branch, Phase, Program, Agency Tracking Number,
    Contract, Proposal Award Date, Contract End Date, Solicitation Number, Solicitation Year, Topic Code,
    Award Year, Award Amount, UEI, HUBZone Owned, Socially and Economically Disadvantaged, Women Owned,
    Number Employees, Company Website, Address1, Address2, City, State, Zip, Abstract, and the name, title,
    phone and e-mail of the contact, the principal investigator (PI …) and the research institution (RI …).
    Identifiers and zip codes are text, dates are dates. Raises DownloadError.
    """
    path = download_csv_if_missing()
    dates = [column for column in pandas.read_csv(path, nrows=0).columns if column in _DATES]
    return pandas.read_csv(path, dtype=dict.fromkeys(_AS_WRITTEN, "str"), parse_dates=dates, low_memory=False)
