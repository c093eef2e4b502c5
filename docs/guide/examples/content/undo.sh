python3 history.py > /dev/null
export POLYMNIA_STORE=notes.db POLYMNIA_EMBEDDER=none
polymnia undo --project atlas
polymnia search "deploy" --project atlas
