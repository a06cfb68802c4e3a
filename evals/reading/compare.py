#!/usr/bin/env python3
"""Compares what `skillc extract` reads of 130 real pages with Mozilla's Readability and with the crate dom_smoothie.

The pages and what Readability keeps of them are the test pages of Mozilla's project, as the crate readability-rust 0.1.0
carries them. Both crates come through cargo; nothing of them is part of this repository.

    cargo build --release -p skillc && python3 evals/reading/compare.py

Precision is the share of the words read that Readability keeps, recall the share of its words that are read, F1 their
harmonic mean, each the mean over the pages; words are counted with their number, not their order.
"""

import collections
import html.parser
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MANIFEST = """[package]
name = "reading"
version = "0.0.0"
edition = "2024"
[workspace]
[dependencies]
dom_smoothie = "0.19"
readability-rust = "0.1.0"
[[bin]]
name = "reading"
path = "reading.rs"
"""


class Text(html.parser.HTMLParser):
    """The text of HTML, with blanks between elements."""

    def __init__(self):
        super().__init__()
        self.parts, self.hidden = [], 0

    def handle_starttag(self, tag, attrs):
        self.hidden += tag in ("script", "style")
        self.parts.append(" ")

    def handle_endtag(self, tag):
        self.hidden -= tag in ("script", "style") and self.hidden > 0

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data)


def words(text):
    return collections.Counter(re.findall(r"\w+", text.lower()))


def compare(read, kept):
    common = sum((read & kept).values())
    precision = common / max(1, sum(read.values()))
    recall = common / max(1, sum(kept.values()))
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def main():
    program = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "target" / "release" / "skillc"
    if not program.exists():
        sys.exit("build it first: cargo build --release -p skillc")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "Cargo.toml").write_text(MANIFEST)
        (work / "reading.rs").write_text((pathlib.Path(__file__).parent / "reading.rs").read_text())
        subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=work, check=True)
        listed = subprocess.run(
            ["cargo", "metadata", "--format-version", "1"], cwd=work, check=True, capture_output=True, text=True
        )
        packages = json.loads(listed.stdout)["packages"]
        crate = next(package for package in packages if package["name"] == "readability-rust")
        pages = sorted(pathlib.Path(crate["manifest_path"]).parent.glob("**/test-pages/*/source.html"))
        scores = {"skillc": [], "dom_smoothie": []}
        failed = collections.Counter()
        times = dict.fromkeys(scores, 0.0)
        for number, source in enumerate(pages, 1):
            expected = Text()
            expected.feed((source.parent / "expected.html").read_text())
            kept = words(" ".join(expected.parts))
            if not kept:
                continue
            commands = {
                "skillc": [program, "extract", source],
                "dom_smoothie": [work / "target" / "release" / "reading", source],
            }
            for name, command in commands.items():
                start = time.monotonic()
                done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
                times[name] += time.monotonic() - start
                failed[name] += not done.stdout.strip()
                scores[name].append(compare(words(done.stdout), kept))
            print(f"\r{number} of {len(pages)}", end="", file=sys.stderr)
        print(file=sys.stderr)
        for name, found in scores.items():
            precision, recall, f1 = (statistics.mean(column) for column in zip(*found))
            worst = sum(score[2] < 0.5 for score in found)
            print(
                f"{name}: precision {precision:.3f}, recall {recall:.3f}, F1 {f1:.3f}; below 0.5: {worst} of {len(found)}; "
                f"nothing read: {failed[name]}; {times[name] / len(found) * 1000:.0f} ms a page with the start of the process"
            )


if __name__ == "__main__":
    main()
