export POLYMNIA_STORE=notes.db POLYMNIA_EMBEDDER=none
polymnia add "As of 2026-03-01, the price of the Basic plan is 10 euros." > /dev/null
polymnia add "As of 2026-05-01, the price of the Basic plan is 12 euros." > /dev/null

polymnia analyze conflicts --sensitivity low
polymnia analyze patterns --type quality_issues --least 0.9
