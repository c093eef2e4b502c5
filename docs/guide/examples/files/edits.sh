# Any program may write the file. Here the shell does.
echo '{"type":"entity","name":"Ann","entityType":"person","observations":["Likes tea"]}' > team.jsonl
polymnia show Ann --file team.jsonl

# An edit counts from the next call on, and is part of the history.
echo '{"type":"entity","name":"Ben","entityType":"person","observations":["Plays go"]}' >> team.jsonl
polymnia changes --file team.jsonl

# It can be undone like any other change; the file follows.
polymnia undo --file team.jsonl
cat team.jsonl; echo
