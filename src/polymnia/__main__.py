"""``python -m polymnia`` is the command ``polymnia``."""

import sys

from polymnia.cli import main

sys.exit(main())
