polymnia changes --store memroy.db || echo "exit code $?"

echo "My notes" > notes.txt
polymnia changes --store notes.txt || echo "exit code $?"

mkdir folder
polymnia changes --store folder || echo "exit code $?"

polymnia import missing.json --store memory.db || echo "exit code $?"
polymnia changes --file notes.json --project website || echo "exit code $?"
