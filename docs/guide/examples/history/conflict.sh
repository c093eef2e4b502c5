export POLYMNIA_STORE=tour.db

echo '{"type":"entity","name":"Ann","entityType":"person","observations":["Likes tea"]}' > one.jsonl
echo '{"type":"entity","name":"Ann","entityType":"person","observations":["Lives in Ulm"]}' > two.jsonl
polymnia import one.jsonl > /dev/null
polymnia import two.jsonl > /dev/null

polymnia undo --change 1 || echo "exit code $?"
polymnia undo --change 2
polymnia undo --change 1
