"""How much personal data an anonymized export still holds, and what it takes away that is none.

python -m bench.anonymizing prints a table and writes bench/results/anonymizing.json. Each sentence is anonymized on its
own, so nothing is learned from the others, as it would be in an export.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from bench.anonymizing_sentences import HELD_OUT, SEEN
from polymnia.engine.privacy.anonymizer import Anonymizer

_MARK = re.compile(r"\[\[([^:\]]+):((?:[^\]]|\](?!\]))+)\]\]")
_RESULTS = Path(__file__).parent / "results" / "anonymizing.json"


def measured(sentences: list[str], *, verbose: bool = False) -> dict[str, dict[str, float]]:
    """Recall and precision by kind. A thing is found when its text is gone, whatever it was taken for."""
    wanted: Counter[str] = Counter()
    found: Counter[str] = Counter()
    made: Counter[str] = Counter()
    for marked in sentences:
        gold = list(_MARK.findall(marked))
        plain = _MARK.sub(lambda match: match[2], marked)
        veil = Anonymizer()
        shown = veil.text(plain).replace("example.invalid", "")
        here = Counter(kind for kind, _ in gold)
        wanted += here
        gone = Counter(kind for kind, text in gold if text not in shown and not _left(text, shown))
        found += gone
        counts = Counter(veil.counts)
        counts["person"] += counts.pop("name", 0)  # a name of something that is nobody is a mistake here
        made += counts
        if verbose and (gone != here or counts - here):
            print(f"{marked}\n    {shown}")
    told = {}
    for kind in sorted(wanted | made):
        right = min(found[kind], made[kind])
        told[kind] = {
            "marked": wanted[kind],
            "found": found[kind],
            "replaced": made[kind],
            "recall": round(found[kind] / wanted[kind], 3) if wanted[kind] else 0.0,
            "precision": round(right / made[kind], 3) if made[kind] else 0.0,
        }
    return told


def _left(text: str, shown: str) -> bool:
    """Whether a telling part of something is still there: a word of a name, a long part of a number."""
    return any(part in shown for part in re.findall(r"[^\W\d_]{4,}|\d{5,}", text))


def main() -> None:
    """Measure, print and write."""
    told = {}
    for name, sentences in (("seen", SEEN), ("held out", HELD_OUT)):
        kinds = measured(sentences, verbose=True)
        print(f"\n{name}, {len(sentences)} sentences")
        print(f"{'kind':12} {'marked':>7} {'found':>6} {'recall':>7} {'precision':>10}")
        for kind, one in kinds.items():
            print(f"{kind:12} {one['marked']:7} {one['found']:6} {one['recall']:7.3f} {one['precision']:10.3f}")
        told[name] = {"sentences": len(sentences), "kinds": kinds}
    _RESULTS.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
