"""Writes words.txt: German and English words by how often they occur.

Source: the word lists of pyspellchecker 0.9.1 (PyPI, MIT), which were counted in film subtitles and cleaned by its
authors. Run once, in an environment that has it:

    pip install pyspellchecker==0.9.1 && python generate.py > words.txt

Words are folded as the router folds them. A section `# LANGUAGE N` holds words that are each one in 2^N of the words
of that language. Words of over 12 letters are left out: they have no near neighbours but their own forms.
"""

import math
import unicodedata

from spellchecker import SpellChecker

LONGEST = 12
SHORTEST = 2
SPELLING = {"ä": "ae", "ö": "oe", "ü": "ue"}


def fold(word):
    folded = unicodedata.normalize("NFKC", word).casefold()
    return "".join(SPELLING.get(letter, letter) for letter in folded)


shares = {}
for language in ("de", "en"):
    counts = SpellChecker(language=language).word_frequency.dictionary
    total = sum(counts.values())
    for word, count in counts.items():
        folded = fold(word)
        if folded.isascii() and folded.isalpha() and SHORTEST <= len(folded) <= LONGEST:
            shares[language, folded] = max(shares.get((language, folded), 0), count / total)

sections = {}
for (language, word), share in shares.items():
    sections.setdefault((language, round(-math.log2(share))), []).append(word)

print("// German and English words by frequency, from pyspellchecker 0.9.1 (PyPI, MIT); written by generate.py.")
for language, number in sorted(sections):
    print(f"# {language} {number}")
    print("\n".join(sorted(sections[language, number])))
