export POLYMNIA_STORE=notes.db POLYMNIA_EMBEDDER=none
polymnia add "Ann likes green tea" --scope home/people --tag tea > /dev/null
polymnia add "Deploy on Mondays" --scope work/api > /dev/null

polymnia export --archive home.yaml --scope home
cat home.yaml
polymnia import --archive home.yaml
polymnia import --archive home.yaml --store other.db --prefix from-ann
polymnia scopes --store other.db

echo '{"memories":[{"content":"Likes tea"},{"content":""},{"content":"Plays chess","scope":"a//b"}]}' > broken.json
polymnia import --archive broken.json || echo "exit code $?"
polymnia import --archive broken.json --no-validate
