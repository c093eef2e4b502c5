echo '{"type":"entity","name":"deadline","entityType":"fact","observations":["May"]}' > may.jsonl
echo '{"type":"entity","name":"deadline","entityType":"fact","observations":["June"]}' > june.jsonl

polymnia import may.jsonl --store notes.db --project website > /dev/null
polymnia import june.jsonl --store notes.db --project book > /dev/null

polymnia show deadline --store notes.db --project website
polymnia show deadline --store notes.db --project book
