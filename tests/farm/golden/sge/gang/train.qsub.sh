#!/bin/bash
#$ -N CopyCat1_v003_train
#$ -S /bin/bash
#$ -wd /mnt/show/sh010/copycat/v003
#$ -j y
#$ -o /mnt/show/sh010/copycat/v003/farm/train.sge.log
#$ -r y
#$ -notify
#$ -pe ranks 3
#$ -l s_rt=5310,h_rt=5400
trap : USR1 USR2  # for the ranks: mpirun passes them on
env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --bind-to none --oversubscribe -n 3 /mnt/show/sh010/copycat/v003/farm/train.run.sh
code=$?
((code > 128 && $(grep -c "^began " /mnt/show/sh010/copycat/v003/farm/train.0.journal) <= 5)) && exit 99
exit $((code != 0))
