#!/bin/bash
#$ -N paint_out_markers_bake
#$ -S /bin/bash
#$ -wd /mnt/show/sh010/copycat/v003
#$ -j y
#$ -o /mnt/show/sh010/copycat/v003/farm/bake.sge.log
#$ -r y
#$ -notify
#$ -t 1-1
#$ -q gpu,night
#$ -P nuke
#$ -p -400
#$ -l torch=1,big=1,nuke_r=1
#$ -l 'hostname=render01|render02|render03'
#$ -pe cores 8
#$ -l h_vmem=3072M,s_rt=5310,h_rt=5400
#$ -l scratch=20G
exec /mnt/show/sh010/copycat/v003/farm/bake.run.sh
