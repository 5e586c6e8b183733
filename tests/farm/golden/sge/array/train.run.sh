#!/bin/bash
# One task of the step train, and its journal.
number=$((SGE_TASK_ID - 1))
export UNDERSTUDY_TASK=$number
exec >>/mnt/show/sh010/copycat/v003/farm/train."${number}".log 2>&1
note() { echo "$* $(hostname)" >>/mnt/show/sh010/copycat/v003/farm/train."${number}".journal; }
for before in {0..0}; do
    [[ $(tail -n 1 /mnt/show/sh010/copycat/v003/farm/bake."${before}".journal) == "ended 0 "* ]] || {
        echo "understudy: bake $before did not succeed; requeue it first"
        note "skipped bake"
        exit 1
    }
done
note began
(trap '' USR1 USR2; exec /mnt/show/sh010/copycat/v003/farm/train.task.sh) &
task=$! why=itself
trap 'why=deleted; ((SECONDS >= 5340)) && why=timeout; kill $task' USR2 TERM
trap '((SECONDS >= 5250)) && why=timeout && kill $task' USR1
while wait $task; code=$?; kill -0 $task 2>/dev/null; do :; done
wait $task; code=$?
note "ended $code $why"
[ $why = itself ] && ((code > 128 && $(grep -c '^began ' /mnt/show/sh010/copycat/v003/farm/train."${number}".journal) <= 5)) && exit 99
exit $((code != 0))
