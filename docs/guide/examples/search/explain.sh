export POLYMNIA_STORE=notes.db POLYMNIA_LANES=words
polymnia import notes.jsonl > /dev/null

polymnia explain "Who drank tea in the mornings?" --limit 3
