#!/bin/sh
# at_most.sh STARTS FILE COMMAND...: OpenCue counts retries for a whole job; this step may be started fewer times.
most=$1 file=$2
shift 2
echo start >> "$file"
if [ "$(wc -l < "$file")" -gt "$most" ]; then
    echo "it failed, and is not started again by itself: understudy requeue" >&2
    exit 1
fi
exec "$@"
