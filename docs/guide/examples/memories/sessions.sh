export POLYMNIA_STORE=notes.db POLYMNIA_EMBEDDER=none
polymnia sessions create monday
polymnia add "The user wants short answers today" --scope session/monday
polymnia sessions
polymnia sessions cleanup --older-than 30
polymnia sessions cleanup --older-than 0
polymnia undo
polymnia sessions
