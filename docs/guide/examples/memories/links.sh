export POLYMNIA_STORE=notes.db POLYMNIA_EMBEDDER=none
polymnia add "Atlas keeps its vectors in PostgreSQL" --tag database > /dev/null
polymnia add "Backups of every database run at night" --tag database > /dev/null
polymnia add "Mina wants to see Atlas before the release" > /dev/null
polymnia add "Vectors of Atlas are 512 numbers long" > /dev/null
last=$(polymnia list --per-page 1 2> /dev/null | cut -f 1)

polymnia show "$last"
polymnia associations "$last"
