#!/usr/bin/env bash
# Installs the torch of older Nukes into build/, each into an environment of its own, and prints their Pythons as PATH
# lists folders: torch 1.12 (Nuke 14) where there is a Python 3.7 to 3.10, torch 1.6 (Nuke 13) where there is a 3.8.
#
#   export UNDERSTUDY_OLD_TORCH=$(tests/core/train/export/old_torch.sh)
set -euo pipefail
cd "$(dirname "$0")/../../../.."

python_of() { # python_of VERSION...: the first that starts, by name or among those that pyenv keeps
    local version candidate
    for version in "$@"; do
        for candidate in "python$version" "$(pyenv root 2>/dev/null || echo /nowhere)/versions/$version."*/bin/python; do
            if "$candidate" -c '' 2>/dev/null; then
                echo "$candidate"
                return
            fi
        done
    done
    return 1
}

install() { # install TORCH PYTHON PACKAGE...: --no-deps, for what CUDA would pull in is not needed
    local place=build/torch-${1%.*} python=$2
    if ! "$place/bin/python" -c 'import torch, numpy; torch.zeros(1).numpy()' 2>/dev/null; then
        rm -rf "$place"
        "$python" -m venv "$place" >&2
        "$place/bin/pip" install --quiet --disable-pip-version-check --no-deps "torch==$1" "${@:3}" >&2
    fi
    echo "$PWD/$place/bin/python"
}

python=$(python_of 3.10 3.9 3.8) || { echo 'torch 1.12 needs a Python 3.8 to 3.10' >&2; exit 1; }
found=$(install 1.12.1 "$python" typing_extensions 'numpy<2')
if python=$(python_of 3.8); then
    found=$found:$(install 1.6.0 "$python" future 'numpy<2')
fi
echo "$found"
