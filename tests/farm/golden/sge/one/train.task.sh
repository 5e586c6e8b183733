#!/bin/bash
# One task of the step train.
exec /opt/understudy/bin/python -m understudy.cli.main resume /mnt/show/sh010/copycat/v003 --progress plain --eviction leave
