export POLYMNIA_STORE=notes.db POLYMNIA_EMBEDDER=none
polymnia add "Deploy the api on Mondays" --scope work/api > /dev/null
polymnia add "Deploy the web page on Tuesdays" --scope work/web > /dev/null
polymnia add "Book the train to Busan" > /dev/null
train=$(polymnia list | head -1 | cut -f 1)

polymnia scopes
polymnia move "$train" --to 여행/부산
polymnia move --scope work --to job
polymnia scopes
polymnia scopes --suggest "On which days do we deploy the api?"
polymnia move nothing --to home || echo "exit code $?"
