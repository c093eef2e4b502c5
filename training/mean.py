"""Write the mean of several trainings of one network that began with the same weights: a little better than each.

python -m training.mean OUT/multi-0 OUT/multi-1 --to OUT/scorer_multi
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from training.english import load, save


def main() -> None:
    """Read, take the mean, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trained", type=Path, nargs="+", help="without the ending")
    parser.add_argument("--to", type=Path, required=True)
    options = parser.parse_args()
    found = [load(path) for path in options.trained]
    mean = {name: np.mean([one[name].astype(np.float32) for one in found], axis=0) for name in found[0]}
    save(options.to.with_suffix(".npz"), mean)


if __name__ == "__main__":
    main()
