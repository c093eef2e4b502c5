echo '{"type":"entity","name":"Ann","entityType":"person","observations":["Likes tea"]}' > team.jsonl
polymnia show Ann --file team.jsonl

# Another program breaks the file.
echo '{"type":"entity","name":"Ben","entityType":"person","obser' > team.jsonl
polymnia show Ann --file team.jsonl || echo "exit code $?"

# The next call works on what was saved.
cat team.jsonl; echo
ls team.jsonl*
polymnia show Ben --file team.jsonl
