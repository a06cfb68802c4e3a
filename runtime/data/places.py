#!/usr/bin/env python3
"""Generate places.tsv: place names in German and English -> IANA time zones.

The table answers "what time is it in <place>?" for the `current_time` tool.
It is a pure function of the pinned packages below: the same script writes the
same bytes every time.

Usage
-----
    python3 runtime/data/places.py                  # downloads, then writes places.tsv
    python3 runtime/data/places.py --archives DIR   # takes the archives from DIR

Python 3.11, standard library only.  Without --archives the script calls
`npm pack` and `pip download` in a temporary directory.  Nothing is installed.
Every archive has to match the SHA-256 pinned in ARCHIVES, wherever it is from.
Names that two places claim are reported on stderr, with the place that won.

Inputs
------
  cldr-core, cldr-bcp47, cldr-dates-full, cldr-localenames-full (npm):
      Unicode CLDR.  Licence: Unicode-3.0, copyright Unicode, Inc.
  tzdata (PyPI): zone.tab, zonenow.tab, iso3166.tab and the compiled zones of
      the IANA Time Zone Database, which is in the public domain.

Output
------
Comment lines start with "#".  Every other line is one row of four columns,
separated by tabs and sorted (in byte order) by the first one, which is unique:

    folded name   display name   de | en | *   zone[,zone...]

The language says where the name comes from: German data, English data, or
both (also: a name that has no language, such as the last part of a zone id).
Look a place up by its folded name and ignore the language.  All zones are ids
of zone.tab, that is, today's names (Asia/Kolkata, Europe/Kyiv).  One zone means
that the answer is known.  Several zones mean that the territory has several
sets of rules: each zone stands for one of them, in zone.tab's order, so that
the tool can ask for a city.

Folding (the reader of the table has to fold its input the same way)
    1. NFC, Unicode case folding (so that sharp s becomes "ss"), NFC again
    2. a-, o-, u-umlaut -> "ae", "oe", "ue"
    3. drop apostrophes (APOSTROPHES) and format characters (category Cf,
       e.g. the soft hyphens in CLDR's German name of Reykjavik)
    4. hyphens (HYPHENS) and dots -> space
    5. collapse white space, trim
If the result still has diacritics, a second row has the name without them
(NFD, drop category Mn): both "são paulo" and "sao paulo" are in the table.

Contents
--------
Cities.  The exemplar city of every zone in zone.tab, from CLDR's time zone
    names in the locales of LOCALES.  Where a language has none, CLDR's rule
    applies: the last part of the zone id, "_" read as space.
Territories.  Every name (also short and variant forms) in those locales of a
    territory that has a zone.  Its zones are those in zone.tab or, for a
    territory that is not an ISO country, the one in TERRITORY_ZONES or in
    CLDR's metazones.  Several zones are reduced to one if CLDR's primaryZones
    names it.  Otherwise zones with equal UTC offsets at all PROBES count as
    one, represented by the first of them that is in zonenow.tab (the zones tzdb
    picks by population), or else that CLDR picks for a metazone of the world or
    of the territory, or else in zone.tab's order.
Old zone ids.  The last part of every Area/City id that is only an alias today
    (Montreal, Belfast, Tel Aviv, Canberra, Saigon), but not NOT_A_PLACE.
Codes.  A two-letter country code that is itself a tzdb alias (GB, NZ).
EXTRA_NAMES.  Names in everyday use that CLDR does not have.

Not in the table: continents, other groupings, subdivisions (such as US
states), territories without a zone, and cities that are none of the above.

If one folded name maps to different zones, one row wins, by this order:
    1. a territory with a single zone (Samoa is not Pacific/Samoa)
    2. a city
    3. a territory with several zones
    4. the last part of a zone id, where CLDR has no name
    5. the last part of an old zone id
and within one class, a name as written before one stripped of diacritics, then
the main locale of a language before its regional ones, then by alphabet.  The
same order picks the display name if several spellings fold to one key.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import subprocess
import sys
import tarfile
import tempfile
import unicodedata
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from enum import IntEnum
from pathlib import Path
from zoneinfo import ZoneInfo

CLDR_VERSION = "48.2.0"
TZDATA_VERSION = "2026.6"

ARCHIVES = {
    f"cldr-bcp47-{CLDR_VERSION}.tgz":
        "b4a4f36a891b9fde1ffeddf1b1cb7f87d025656a58415291a96b563a82700fe0",
    f"cldr-core-{CLDR_VERSION}.tgz":
        "5310e0c7a06c1feb83dc8e54c8584bbe0b9c2ea8320172a18d541986b124585d",
    f"cldr-dates-full-{CLDR_VERSION}.tgz":
        "0256f1cefeca14f7d515be4872dda48fcdd7e75381430f25aafd0143eae5b430",
    f"cldr-localenames-full-{CLDR_VERSION}.tgz":
        "7f2ac7fd3b5d90f56ad127f9ed5ae67b58b3e556818f55530b9f47bb81bcde57",
    f"tzdata-{TZDATA_VERSION}-py2.py3-none-any.whl":
        "0a10eec6e13ef16b627fabed9a5f2ba61a62b1c67f327305f4e7e412a70b4aec",
}

OUTPUT = Path(__file__).with_name("places.tsv")

# The other regional locales of German and English add no further names.
LOCALES = {
    "de": ("de", "de-AT", "de-CH"),
    "en": ("en", "en-GB", "en-AU", "en-CA"),
}

# Codes that CLDR has but ISO 3166 (and so zone.tab) has not.  The zones follow
# zone.tab's comments ("Canary Islands", "Ceuta, Melilla") or are those of the
# territory that the place belongs to.
TERRITORY_ZONES = {
    "AC": "Atlantic/St_Helena",  # Ascension, part of SH
    "CQ": "Europe/Guernsey",     # Sark, part of GG
    "DG": "Indian/Chagos",       # Diego Garcia, part of IO
    "EA": "Africa/Ceuta",        # Ceuta and Melilla, part of ES
    "IC": "Atlantic/Canary",     # Canary Islands, part of ES
    "TA": "Atlantic/St_Helena",  # Tristan da Cunha, part of SH
}

EXTRA_NAMES = (
    ("GB", "de", "Großbritannien"),
    ("GB", "en", "Great Britain"),
)

# Old Area/City ids whose last part is a subdivision, an abbreviation or too vague.
NOT_A_PLACE = {
    "America/Knox_IN",
    "America/Virgin",
    "Australia/ACT",
    "Australia/LHI",
    "Australia/NSW",
    "Australia/North",
    "Australia/Queensland",
    "Australia/South",
    "Australia/Tasmania",
    "Australia/Victoria",
    "Australia/West",
    "Australia/Yancowinna",
}

APOSTROPHES = "'`\u00b4\u02bb\u02bc\u2018\u2019\u201b\u2032"
HYPHENS = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212"

FOLD_TABLE = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", ".": " "}
    | dict.fromkeys(APOSTROPHES, "")
    | dict.fromkeys(HYPHENS, " ")
)

# Two zones have the same rules if their UTC offsets agree at all these times.
PROBES = tuple(
    datetime(year, month, day, 12, tzinfo=timezone.utc)
    for year in (2026, 2027)
    for month in range(1, 13)
    for day in (1, 15)
)


class Kind(IntEnum):
    """Where a name comes from.  If names collide, the lowest value wins."""

    TERRITORY = 1
    CITY = 2
    SPLIT_TERRITORY = 3
    ZONE_ID = 4
    OLD_ZONE_ID = 5


@dataclass(frozen=True, order=True)
class Entry:
    """One claim that a name means these zones.  Sorts by precedence."""

    kind: Kind
    stripped: bool
    rank: int
    display: str
    language: str
    zones: tuple[str, ...]


# --- Folding ----------------------------------------------------------------


def clean(name: str) -> str:
    """A name as it is shown: NFC, no format characters, single spaces."""
    name = unicodedata.normalize("NFC", name)
    name = "".join(c for c in name if unicodedata.category(c) != "Cf")
    return " ".join(name.split())


def fold(name: str) -> str:
    """The key of a name (see the module's docstring)."""
    name = clean(clean(name).casefold()).translate(FOLD_TABLE)
    return " ".join(name.split())


def strip_diacritics(folded: str) -> str:
    decomposed = unicodedata.normalize("NFD", folded)
    kept = "".join(c for c in decomposed if unicodedata.category(c) != "Mn")
    return unicodedata.normalize("NFC", kept)


# --- Inputs -----------------------------------------------------------------


def download(directory: Path) -> None:
    """Fetch every archive into `directory` with npm and pip."""
    for archive in ARCHIVES:
        if archive.endswith(".tgz"):
            package = archive.removesuffix(f"-{CLDR_VERSION}.tgz")
            command = [
                "npm", "pack", "--silent", "--ignore-scripts",
                f"{package}@{CLDR_VERSION}",
            ]
        else:
            command = [
                sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                "--only-binary=:all:", "--disable-pip-version-check",
                f"tzdata=={TZDATA_VERSION}",
            ]
        subprocess.run(command, cwd=directory, check=True, stdout=sys.stderr)


def verified(path: Path) -> io.BytesIO:
    """The content of an archive, if its SHA-256 is the pinned one."""
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != ARCHIVES[path.name]:
        sys.exit(f"{path.name}: SHA-256 is {digest}, expected {ARCHIVES[path.name]}")
    return io.BytesIO(content)


class Cldr:
    """JSON files of the CLDR packages."""

    def __init__(self, directory: Path) -> None:
        self._packages = {
            package: tarfile.open(
                fileobj=verified(directory / f"{package}-{CLDR_VERSION}.tgz")
            )
            for package in (
                "cldr-bcp47", "cldr-core", "cldr-dates-full", "cldr-localenames-full",
            )
        }

    def _json(self, package: str, path: str) -> dict:
        file = self._packages[package].extractfile(f"package/{path}")
        assert file is not None, path
        return json.load(file)

    def zone_ids(self) -> dict[str, str]:
        """Every zone id, old ones too -> the id that is current in tzdb."""
        zones = self._json("cldr-bcp47", "bcp47/timezone.json")
        result = {}
        for value in zones["keyword"]["u"]["tz"].values():
            if isinstance(value, dict) and "_alias" in value:
                aliases = value["_alias"].split()
                current = value.get("_iana", aliases[0])
                result |= dict.fromkeys(aliases, current)
        return result

    def primary_zones(self) -> dict[str, str]:
        """Territory -> the zone that stands for all of it."""
        data = self._json("cldr-core", "supplemental/primaryZones.json")
        return data["supplemental"]["primaryZones"]

    def metazone_zones(self) -> list[tuple[str, str]]:
        """(territory or 001, zone) for every metazone."""
        data = self._json("cldr-core", "supplemental/metaZones.json")
        maps = (m["mapZone"] for m in data["supplemental"]["metaZones"]["metazones"])
        return [(m["_territory"], m["_type"]) for m in maps]

    def exemplar_cities(self, locale: str) -> dict[str, str]:
        """Zone id, as CLDR has it -> city."""
        data = self._json("cldr-dates-full", f"main/{locale}/timeZoneNames.json")
        result = {}

        def walk(node: dict, path: tuple[str, ...]) -> None:
            for key, value in node.items():
                if key == "exemplarCity":
                    result["/".join(path)] = value
                elif isinstance(value, dict):
                    walk(value, (*path, key))

        walk(data["main"][locale]["dates"]["timeZoneNames"]["zone"], ())
        return result

    def territory_names(self, locale: str) -> list[tuple[str, str]]:
        """(territory, name), with alternative names, without groupings."""
        data = self._json("cldr-localenames-full", f"main/{locale}/territories.json")
        names = data["main"][locale]["localeDisplayNames"]["territories"]
        return [
            (key.partition("-alt-")[0], name)
            for key, name in names.items()
            if not key[0].isdigit()
        ]


class Tzdb:
    """Tables and rules of the tzdata package."""

    def __init__(self, directory: Path) -> None:
        wheel = directory / f"tzdata-{TZDATA_VERSION}-py2.py3-none-any.whl"
        self._wheel = zipfile.ZipFile(verified(wheel))
        self.zones_of: dict[str, list[str]] = defaultdict(list)
        for country, _, zone, *_ in self._table("zone.tab"):
            self.zones_of[country].append(zone)
        self.zones = {zone for zones in self.zones_of.values() for zone in zones}
        self.populous = {zone for _, _, zone, *_ in self._table("zonenow.tab")}
        self.countries = {country for country, *_ in self._table("iso3166.tab")}

    def _table(self, name: str) -> Iterator[list[str]]:
        for line in self._wheel.read(f"tzdata/zoneinfo/{name}").decode().splitlines():
            if line and not line.startswith("#"):
                yield line.split("\t")

    def rules(self, zone: str) -> tuple[timedelta | None, ...]:
        """A fingerprint that zones with the same rules share."""
        content = self._wheel.read(f"tzdata/zoneinfo/{zone}")
        info = ZoneInfo.from_file(io.BytesIO(content), key=zone)
        return tuple(probe.astimezone(info).utcoffset() for probe in PROBES)


# --- The table --------------------------------------------------------------


class Places:
    def __init__(self, cldr: Cldr, tzdb: Tzdb) -> None:
        self.cldr = cldr
        self.tzdb = tzdb
        self.current = cldr.zone_ids()
        self.entries: dict[str, list[Entry]] = defaultdict(list)

    def add(
        self, name: str, language: str, zones: tuple[str, ...], kind: Kind, rank: int = 0
    ) -> None:
        assert zones and self.tzdb.zones.issuperset(zones), (name, zones)
        folded = fold(name)
        for key in {folded, strip_diacritics(folded)}:
            entry = Entry(kind, key != folded, rank, clean(name), language, zones)
            self.entries[key].append(entry)

    def add_cities(self) -> None:
        for language, locales in LOCALES.items():
            named = set()
            for rank, locale in enumerate(locales):
                for zone, city in self.cldr.exemplar_cities(locale).items():
                    zone = self.current[zone]
                    if zone in self.tzdb.zones:  # not so: Etc/Unknown
                        named.add(zone)
                        self.add(city, language, (zone,), Kind.CITY, rank)
            for zone in self.tzdb.zones - named:
                self.add(last_part(zone), language, (zone,), Kind.ZONE_ID)

    def add_territories(self) -> None:
        zones_of = self._territory_zones()
        names = [
            (territory, language, name, rank)
            for language, locales in LOCALES.items()
            for rank, locale in enumerate(locales)
            for territory, name in self.cldr.territory_names(locale)
        ]
        names += [
            (territory, language, name, len(LOCALES[language]))
            for territory, language, name in EXTRA_NAMES
        ]
        names += [
            (code, "*", code, 0) for code in self.tzdb.countries & self.current.keys()
        ]
        for territory, language, name, rank in names:
            if zones := zones_of.get(territory):
                kind = Kind.TERRITORY if len(zones) == 1 else Kind.SPLIT_TERRITORY
                self.add(name, language, zones, kind, rank)

    def _territory_zones(self) -> dict[str, tuple[str, ...]]:
        """Territory -> one zone, or one for each set of rules."""
        metazone_zones = [
            (territory, self.current[zone])
            for territory, zone in self.cldr.metazone_zones()
        ]
        result = {territory: (zone,) for territory, zone in TERRITORY_ZONES.items()}
        for territory, zone in metazone_zones:
            if territory != "001" and territory not in self.tzdb.zones_of:
                result.setdefault(territory, (zone,))
        primary = self.cldr.primary_zones()
        for territory, zones in self.tzdb.zones_of.items():
            if territory in primary:
                result[territory] = (self.current[primary[territory]],)
                continue
            preferred = {z for t, z in metazone_zones if t in ("001", territory)}
            groups: dict[tuple, list[str]] = defaultdict(list)
            for zone in zones:
                groups[self.tzdb.rules(zone)].append(zone)
            chosen = {
                min(
                    group,
                    key=lambda z: (z not in self.tzdb.populous, z not in preferred),
                )
                for group in groups.values()
            }
            result[territory] = tuple(z for z in zones if z in chosen)
        return result

    def add_old_ids(self) -> None:
        for old, zone in self.current.items():
            if (
                old != zone
                and old.count("/") == 1
                and old.split("/")[0] in {z.split("/")[0] for z in self.tzdb.zones}
                and old not in NOT_A_PLACE
                and zone in self.tzdb.zones
            ):
                self.add(last_part(old), "*", (zone,), Kind.OLD_ZONE_ID)

    def rows(self) -> list[tuple[str, str, str, str]]:
        result = []
        for key, entries in sorted(self.entries.items()):
            best = min(entries)
            same = [e for e in entries if e.zones == best.zones]
            languages = {e.language for e in same}
            language = languages.pop() if len(languages) == 1 else "*"
            result.append((key, best.display, language, ",".join(best.zones)))
            for entry in sorted(set(entries) - set(same)):
                print(
                    f"{key}: {','.join(best.zones)} ({best.kind.name}), "
                    f"not {','.join(entry.zones)} ({entry.kind.name})",
                    file=sys.stderr,
                )
        return result


def last_part(zone: str) -> str:
    return zone.rpartition("/")[2].replace("_", " ")


def render(rows: list[tuple[str, str, str, str]]) -> str:
    lines = [
        "# Generated by places.py, do not edit.  The format is described there.",
        f"# From Unicode CLDR {CLDR_VERSION} (SPDX: Unicode-3.0, copyright Unicode, Inc.)",
        f"# and the IANA Time Zone Database, tzdata {TZDATA_VERSION} (public domain).",
        "# folded name, display name, language (de, en or *), zone[,zone...]",
    ]
    for row in rows:
        assert all(row) and not any("\t" in cell or "\n" in cell for cell in row), row
        assert not row[0].startswith("#"), row
        lines.append("\t".join(row))
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Generate places.tsv.")
    parser.add_argument(
        "--archives", type=Path, metavar="DIR", help="take the archives from DIR"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        directory = arguments.archives
        if directory is None:
            directory = Path(temporary)
            download(directory)
        places = Places(Cldr(directory), Tzdb(directory))
    places.add_cities()
    places.add_territories()
    places.add_old_ids()
    rows = places.rows()
    OUTPUT.write_text(render(rows), encoding="utf-8", newline="\n")
    print(f"{OUTPUT.name}: {len(rows)} rows", file=sys.stderr)


if __name__ == "__main__":
    main()
