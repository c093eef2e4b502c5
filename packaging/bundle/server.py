"""What a client starts from the bundle: the stdio server of the installed package."""

from __future__ import annotations

import os
import sys

from polymnia.cli import main

# Some clients leave the placeholder of an option that was not filled in.
for name in [name for name, value in os.environ.items() if value.startswith("${user_config.")]:
    del os.environ[name]

sys.exit(main(["stdio"]))
