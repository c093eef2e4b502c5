polymnia stdio --dialect offical < /dev/null || echo "exit code $?"
polymnia stdio --databse memory.db < /dev/null || echo "exit code $?"
POLYMNIA_MAX_BATCH=many polymnia stdio < /dev/null || echo "exit code $?"
