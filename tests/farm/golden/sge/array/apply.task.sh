#!/bin/bash
# One task of the step apply.
export UNDERSTUDY_PATH_RULES=windows=P:/show/,linux=/mnt/show/
exec /opt/understudy/bin/python -m understudy.cli.main apply /mnt/show/sh010/copycat/v003 --progress plain --input '/mnt/show/sh010/plate/sh010 plate.####.exr' --output '/mnt/show/sh010/paint/sh010_paint.####.exr' --part "${UNDERSTUDY_TASK}"/4
