export POLYMNIA_STORE=notes.db POLYMNIA_EMBEDDER=none # words alone, so that this page is the same everywhere

polymnia add "The cache holds each answer for a day" --scope work/api --category decision --tag cache
polymnia add "the cache holds each answer for a day." --scope work/api
polymnia add "The cache holds each answer for 2 days" --scope work/api --meta team=blue
echo "Ann likes green tea" | polymnia add - --scope home/people
polymnia list
polymnia search tea
