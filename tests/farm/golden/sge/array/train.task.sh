#!/bin/bash
# One task of the step train.
export UNDERSTUDY_PATH_RULES=windows=P:/show/,linux=/mnt/show/
export COPYCAT_MAIN_ADDR=auto
export COPYCAT_MAIN_PORT=auto
export COPYCAT_WORLD_SIZE=3
export COPYCAT_RANK="${UNDERSTUDY_TASK}"
exec /opt/understudy/bin/python -m understudy.cli.main resume /mnt/show/sh010/copycat/v003 --progress plain --eviction leave
