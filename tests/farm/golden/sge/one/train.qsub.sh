#!/bin/bash
#$ -N CopyCat1_v003_train
#$ -S /bin/bash
#$ -wd /mnt/show/sh010/copycat/v003
#$ -j y
#$ -o /mnt/show/sh010/copycat/v003/farm/train.sge.log
#$ -r y
#$ -notify
#$ -t 1-1
exec /mnt/show/sh010/copycat/v003/farm/train.run.sh
