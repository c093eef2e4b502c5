"""The command ``polymnia``, with schemas of a database, which comes first, in place of the files named as stores."""

import hashlib
import os
import sys

from polymnia.cli import main

database = sys.argv.pop(1)
for at, option in enumerate(sys.argv[:-1]):
    if option == "--store":
        name = hashlib.sha256(os.path.abspath(sys.argv[at + 1]).encode()).hexdigest()[:16]
        sys.argv[at + 1] = f"{database}{'&' if '?' in database else '?'}schema=store_{name}&partitions=1"
sys.exit(main())
