echo "My notes" > notes.txt
polymnia changes --store notes.txt || echo "exit code $?"

mkdir folder
polymnia changes --store folder || echo "exit code $?"

polymnia import missing.json --store memory.db || echo "exit code $?"
