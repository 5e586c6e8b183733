#!/bin/bash
# One task of the step publish.
export UNDERSTUDY_RUN=/mnt/show/sh010/copycat/v003
export UNDERSTUDY_OUTPUT='/mnt/show/sh010/paint/sh010_paint.####.exr'
export UNDERSTUDY_INPUT='/mnt/show/sh010/plate/sh010 plate.####.exr'
exec publish_tool --shot sh010 --note 'model made it'
