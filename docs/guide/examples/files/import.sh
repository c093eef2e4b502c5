polymnia import old.jsonl --store notes.db
polymnia export backup.json --store notes.db
polymnia import backup.json --store notes.db
polymnia export - --at 1 --store notes.db > as-it-was.json
