"""Writes words.txt, the German and English words by how often they occur, and behind them names.

Run once, in an environment that has the two packages, with the path of the unpacked third:

    pip install pyspellchecker==0.9.1 faker==40.63.0
    npm pack simple-icons@16.37.0 && tar xzf simple-icons-16.37.0.tgz
    python generate.py package/data/simple-icons.json > words.txt

Words come from pyspellchecker (MIT), which counted them in film subtitles and cleaned the lists; people and towns from
faker (MIT); brands from simple-icons (CC0). All are folded as the router folds them. A section `# LANGUAGE N` holds
words that are each one in 2^N of the words of that language, `# name` names of four letters and more. Words of over 14
letters are left out: they have no near neighbours but their own forms.
"""

import importlib
import json
import math
import pkgutil
import re
import sys
import unicodedata

import faker.providers.address
import faker.providers.person
from spellchecker import SpellChecker

LONGEST = 14
SHORTEST = 2
SHORTEST_NAME = 4
SPELLING = {"ä": "ae", "ö": "oe", "ü": "ue"}
TOWNS = {"cities", "city", "city_name", "city_names", "countries", "municipalities", "states", "towns", "villages"}


def fold(word):
    folded = unicodedata.normalize("NFKC", word).casefold()
    return "".join(SPELLING.get(letter, letter) for letter in folded)


def plain(word, shortest):
    return word.isascii() and word.isalpha() and shortest <= len(word) <= LONGEST


def texts(package, wanted):
    """Strings in the lists of all locales of a package of faker whose names are wanted."""
    for module in pkgutil.iter_modules(package.__path__):
        provider = importlib.import_module(f"{package.__name__}.{module.name}").Provider
        for key in filter(wanted, dir(provider)):
            values = getattr(provider, key)
            if isinstance(values, (list, tuple, dict)):
                yield from (value for value in values if isinstance(value, str) and "{{" not in value)


shares = {}
for language in ("de", "en"):
    counts = SpellChecker(language=language).word_frequency.dictionary
    total = sum(counts.values())
    for word, count in counts.items():
        folded = fold(word)
        if plain(folded, SHORTEST):
            shares[language, folded] = max(shares.get((language, folded), 0), count / total)

sections = {}
for (language, word), share in shares.items():
    sections.setdefault((language, round(-math.log2(share))), []).append(word)

people = texts(faker.providers.person, lambda key: "name" in key and not key.startswith("_"))
towns = texts(faker.providers.address, lambda key: key in TOWNS)
with open(sys.argv[1], encoding="utf-8") as file:
    brands = [icon["title"] for icon in json.load(file)]
names = {fold(word) for text in [*people, *towns, *brands] for word in re.split(r"[\W\d_]+", text)}

print("// German and English words by frequency, and names; written by generate.py, which names the sources.")
for language, number in sorted(sections):
    print(f"# {language} {number}")
    print("\n".join(sorted(sections[language, number])))
print("# name")
print("\n".join(sorted(word for word in names if plain(word, SHORTEST_NAME))))
