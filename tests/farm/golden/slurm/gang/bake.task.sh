#!/bin/bash
# One task of the step bake.
export UNDERSTUDY_RUN=/mnt/show/sh010/copycat/v003
exec nuke -F 1001-1024 -X UnderstudyInput,UnderstudyTarget '/mnt/show/sh010/sh010 comp.nk'
