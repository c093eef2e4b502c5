export POLYMNIA_STORE=notes.db POLYMNIA_EMBEDDER=none

polymnia add "Ann likes tea" --json > /dev/null
polymnia backup monday.db
polymnia backup monday.db || echo "exit code $?"

# Something goes wrong, and Monday's state is wanted back.
polymnia add "Ann likes coffee" --json > /dev/null
polymnia restore monday.db
polymnia list | cut -f 3
ls notes*
