#!/bin/bash
# One task of the step train, and its journal.
number=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:?"neither OMPI_COMM_WORLD_RANK nor PMI_RANK is set; give another -O mpirun"}}
export UNDERSTUDY_RANK_GPU=${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-0}}
export UNDERSTUDY_RANKS_HERE=${OMPI_COMM_WORLD_LOCAL_SIZE:-${MPI_LOCALNRANKS:-1}}
export UNDERSTUDY_TASK=$number
exec >>/mnt/show/sh010/copycat/v003/farm/train."${number}".log 2>&1
note() { echo "$* $(hostname)" >>/mnt/show/sh010/copycat/v003/farm/train."${number}".journal; }
note began
(trap '' USR1 USR2; exec /mnt/show/sh010/copycat/v003/farm/train.task.sh) &
task=$! why=itself
trap 'why=deleted; ((SECONDS >= 5340)) && why=timeout; kill $task' USR2 TERM
trap '((SECONDS >= 5250)) && why=timeout && kill $task' USR1
while wait $task; code=$?; kill -0 $task 2>/dev/null; do :; done
wait $task; code=$?
note "ended $code $why"
[ $why = itself ] || exit 0
((code == 3 || code == 4 || code > 128 && number > 0)) && exit 0
exit $code
