"""Two months of hourly readings from four sites, with faults planted where `PLANTED` says.

What is in the data to be found: temperature follows the time of day and the weather of the site;
some devices spike, one is stuck, one drifts, one drains its battery; a site was offline for a day.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from .prng import Random
from .table import Cell, CsvTable, decimal

FIRST_HOUR = datetime(2025, 11, 1)
HOURS = 61 * 24

_SITES = ("Bergen", "Lisbon", "Osaka", "Toronto")
_SITE_TENTHS = {"Bergen": 195, "Lisbon": 231, "Osaka": 219, "Toronto": 204}
_SITE_HUMIDITY = {"Bergen": 560, "Lisbon": 500, "Osaka": 470, "Toronto": 410}
_ZONES = ("assembly", "packing", "storage", "boiler room", "office", "loading dock")
_MODELS = ("TX-100", "TX-200", "VibraSense 3")
# Tenths of a degree around the mean of the day, hour by hour.
_DAY_CURVE = (
    -14, -16, -18, -19, -20, -19, -15, -9, -3, 3, 8, 13, 17, 20, 21, 20, 17, 13, 8, 4, 0, -4, -8, -11,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    device: str
    kind: str
    """`temperature spike`, `vibration spike`, `humidity spike`, `stuck`, `drift`, `drain` or `gap`."""
    start: datetime
    hours: int

    def hours_in(self, at: datetime) -> int | None:
        """Hours since the fault began; None outside of it."""
        passed = (at - self.start) // timedelta(hours=1)
        return passed if 0 <= passed < self.hours else None


PLANTED = (
    Fault("D-07", "temperature spike", datetime(2025, 11, 12, 14), 2),
    Fault("D-07", "temperature spike", datetime(2025, 12, 3, 3), 3),
    Fault("D-15", "temperature spike", datetime(2025, 12, 21, 18), 2),
    Fault("D-13", "vibration spike", datetime(2025, 12, 9, 8), 6),
    Fault("D-02", "vibration spike", datetime(2025, 11, 18, 22), 2),
    Fault("D-21", "humidity spike", datetime(2025, 11, 29, 1), 5),
    Fault("D-10", "stuck", datetime(2025, 11, 20, 6), 8 * 24),
    Fault("D-18", "drift", datetime(2025, 12, 6, 0), 26 * 24),
    Fault("D-22", "drain", datetime(2025, 12, 1, 0), 31 * 24),
    Fault("D-04", "gap", datetime(2025, 12, 14, 9), 4 * 24),
    *(Fault(f"D-{n:02d}", "gap", datetime(2025, 11, 27, 2), 17) for n in range(7, 13)),
)

READING_COLUMNS = (
    "recorded_at", "device_id", "site", "temperature_c", "humidity_pct", "vibration_mm_s", "battery_pct",
    "error_code",
)  # fmt: skip
DEVICE_COLUMNS = (
    "device_id",
    "site",
    "zone",
    "model",
    "installed_on",
    "last_calibrated",
    "max_temperature_c",
)


@dataclass(slots=True)
class _Device:
    id: str
    site: str
    zone: str
    row: tuple[Cell, ...]
    offset: int
    vibration: int
    battery: int
    drain: int
    faults: tuple[Fault, ...]
    stuck: tuple[str, str] | None = None


def tables() -> list[CsvTable]:
    rng = Random(0x5E45)
    devices = [_device(rng, n) for n in range(24)]
    readings = CsvTable("readings", READING_COLUMNS)
    weather: dict[str, int] = dict.fromkeys(_SITES, 0)  # thousandths of a degree
    for hour in range(HOURS):
        at = FIRST_HOUR + timedelta(hours=hour)
        for site in _SITES:
            weather[site] = weather[site] * 97 // 100 + rng.noise(350)
        for device in devices:
            row = _reading(rng, device, at, hour, weather[device.site] // 100)
            if row is not None:
                readings.rows.append(row)
    return [readings, CsvTable("devices", DEVICE_COLUMNS, [d.row for d in devices])]


def _device(rng: Random, index: int) -> _Device:
    name, site, zone = f"D-{index + 1:02d}", _SITES[index // 6], _ZONES[index % 6]
    installed = date(2022, 1, 10) + timedelta(days=rng.below(1200))
    calibrated = None if rng.chance(1500) else date(2025, 1, 15) + timedelta(days=rng.below(270))
    row = (
        name, site, zone, rng.choice(_MODELS), installed, calibrated,
        "38.0" if zone == "boiler room" else "32.0",
    )  # fmt: skip
    return _Device(
        id=name,
        site=site,
        zone=zone,
        row=row,
        offset=rng.noise(7) + (45 if zone == "boiler room" else 0),
        vibration=rng.between(120, 260),
        battery=rng.between(7400, 10_000),
        drain=rng.between(9, 22),
        faults=tuple(f for f in PLANTED if f.device == name),
    )


def _reading(rng: Random, device: _Device, at: datetime, hour: int, weather: int) -> tuple[Cell, ...] | None:
    # Drawn before the faults are looked at, so that planting one moves nothing else.
    day_curve = _DAY_CURVE[at.hour]
    temperature = _SITE_TENTHS[device.site] + device.offset + day_curve + weather + rng.noise(6)
    humidity = _SITE_HUMIDITY[device.site] - 2 * day_curve - weather + rng.noise(22)
    working = at.weekday() < 5 and 6 <= at.hour < 20
    vibration = max(device.vibration + (60 if working else 0) + rng.noise(32), 5)
    battery = max(device.battery - device.drain * hour // 10, 0)
    lost, unread = rng.chance(40), rng.below(1000)

    for fault in device.faults:
        passed = fault.hours_in(at)
        if passed is None:
            continue
        match fault.kind:
            case "temperature spike":
                temperature += 340 + 30 * passed
            case "vibration spike":
                vibration += 1150 + 90 * passed
            case "humidity spike":
                humidity = 978 + 3 * passed
            case "drift":
                temperature += 16 * passed // 100
            case "drain":
                battery = max(battery - 13 * passed, 0)
            case _:
                lost = lost or fault.kind == "gap"
    if lost:
        return None
    return _spelled(device, at, (temperature, humidity, vibration, battery), unread)


def _spelled(
    device: _Device, at: datetime, values: tuple[int, int, int, int], unread: int
) -> tuple[Cell, ...]:
    temperature, humidity, vibration, battery = values
    climate = decimal(temperature, 1), decimal(min(max(humidity, 0), 1000), 1)
    if any(f.kind == "stuck" and f.hours_in(at) is not None for f in device.faults):
        device.stuck = climate = device.stuck or climate
    shown: list[Cell] = [*climate, decimal(vibration), decimal(battery // 10, 1)]
    error = None
    if unread < 7:
        shown[0] = shown[1] = None
        error = "E-CLIMATE"
    elif unread < 11:
        shown[2] = None
        error = "E-VIBRATION"
    return at, device.id, device.site, *shown, error
