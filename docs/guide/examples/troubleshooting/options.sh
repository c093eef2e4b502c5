polymnia stdio --dialect=offical < /dev/null || echo "exit code $?"
polymnia stdio --busy-timeout=soon < /dev/null || echo "exit code $?"
POLYMNIA_MAX_BATCH=0 polymnia stdio < /dev/null || echo "exit code $?"
