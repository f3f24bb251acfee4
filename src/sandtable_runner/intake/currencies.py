"""Signs and codes of currencies, and the unit that each stands for."""

from __future__ import annotations

_SIGNS = {
    "$": "USD",
    "US$": "USD",
    "€": "EUR",
    "£": "GBP",
    "¥": "JPY",
    "₹": "INR",
    "₽": "RUB",
    "₩": "KRW",
    "₺": "TRY",
    "₪": "ILS",
    "₫": "VND",
    "₴": "UAH",
    "₦": "NGN",
    "₱": "PHP",
    "฿": "THB",
    "zł": "PLN",
    "Kč": "CZK",
    "Ft": "HUF",
    "R$": "BRL",
    "A$": "AUD",
    "C$": "CAD",
    "CA$": "CAD",
    "NZ$": "NZD",
    "HK$": "HKD",
    "S$": "SGD",
    "kr": "kr",
    "kr.": "kr",
    "Fr.": "Fr.",
    "lei": "lei",
}
"""`kr`, `Fr.` and `lei` are used by several countries: the sign itself is the unit."""

_CODES = frozenset(
    """
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP
    CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR
    ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT
    MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD
    SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND
    VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWL
    """.split()
)


WITHOUT_CENTS = frozenset({"JPY", "KRW", "VND", "CLP", "ISK"})
"""Amounts are whole numbers, so a mark before three digits is one between thousands."""


def unit_of(token: str) -> str:
    """The unit of a sign or code; empty where it is neither."""
    return _SIGNS.get(token) or (token.upper() if token.upper() in _CODES else "")


def tokens_of(unit: str) -> list[str]:
    """Every way to write a unit, the longest first."""
    signs = [sign for sign, code in _SIGNS.items() if code == unit]
    return sorted(
        {unit, *signs, *([unit.lower()] if unit in _CODES else [])}, key=lambda text: (-len(text), text)
    )


def is_unit(unit: str) -> bool:
    return unit in _CODES or unit in _SIGNS.values()
