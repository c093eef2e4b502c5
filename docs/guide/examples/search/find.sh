export POLYMNIA_STORE=notes.db POLYMNIA_LANES=words # words alone, so that this page is the same everywhere
polymnia import notes.jsonl > /dev/null

polymnia search "green tea"
polymnia search "who works at the harbor"
polymnia search "user name" --kind component
polymnia search guitra
polymnia search "what was decided in March 2026"
polymnia search xylophone
