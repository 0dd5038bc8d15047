#!/usr/bin/env bash
# Run by conda build after build.sh: the Python package, linked to the heddle installed there.
set -euo pipefail
# shellcheck disable=SC2154  # conda build sets the variables
"$PYTHON" -m pip install . -v --no-deps --no-build-isolation \
  --config-settings="cmake.define.heddle_DIR=$PREFIX/lib/cmake/heddle" \
  --config-settings="cmake.define.CMAKE_INSTALL_RPATH=$PREFIX/lib"
