#!/bin/bash
#$ -N paint_out_markers_publish
#$ -S /bin/bash
#$ -wd /mnt/show/sh010/copycat/v003
#$ -j y
#$ -o /mnt/show/sh010/copycat/v003/farm/publish.sge.log
#$ -r y
#$ -notify
#$ -t 1-1
#$ -q gpu,night
#$ -P nuke
#$ -p -400
#$ -l torch=1,big=1
#$ -l 'hostname=render01|render02|render03'
#$ -l s_rt=5310,h_rt=5400
#$ -l scratch=20G
exec /mnt/show/sh010/copycat/v003/farm/publish.run.sh
