export POLYMNIA_STORE=tour.db

echo '{"type":"entity","name":"diary","entityType":"text","observations":["A secret"]}' > diary.jsonl
echo '{"type":"entity","name":"Ann","entityType":"person","observations":["Likes tea"]}' > ann.jsonl
polymnia import diary.jsonl > /dev/null
polymnia import ann.jsonl > /dev/null

polymnia purge diary || echo "exit code $?"
polymnia purge diary --yes
polymnia history diary || echo "exit code $?"

# The last change was final. An earlier one is undone by its number.
polymnia undo || echo "exit code $?"
polymnia undo --change 2
