# shellcheck shell=bash
# Sourced by the scripts of this folder: the packages that heddle needs from the system, and
# functions to install them.

# Debian and Ubuntu packages. A tool that may have been installed in another way is listed with its
# command (package:command). If the command exists, the package is not required.
# shellcheck disable=SC2034  # the scripts that source this file use them
kBuildPackages=(g++:g++ cmake:cmake make:make libeigen3-dev libfmt-dev zlib1g-dev libyaml-cpp-dev
  libcli11-dev libspdlog-dev nlohmann-json3-dev)
# shellcheck disable=SC2034
kTestPackages=(ninja-build:ninja ccache:ccache libgtest-dev libbenchmark-dev libsuitesparse-dev
  libmumps-seq-dev libopenmpi-dev openmpi-bin libmetis-dev
  pkgconf:pkg-config doxygen:doxygen
  clang:clang++ libclang-rt-dev libomp-dev clang-format-14:clang-format-14 shellcheck:shellcheck
  python3:python3 python3-scipy python3-dev python3-venv)

say() { printf '== %s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

as_root() {
  if [[ $(id -u) -eq 0 ]]; then
    "$@"
  else
    sudo "$@"
  fi
}

package_is_there() { # NAME[:COMMAND]
  local name=${1%%:*}
  if [[ $1 == *:* ]] && command -v "${1#*:}" >/dev/null; then
    return 0
  fi
  [[ $(dpkg-query -W -f='${Status}' "$name" 2>/dev/null) == "install ok installed" ]]
}

# Installs the missing ones of the given packages. If none is missing, it does nothing and needs no
# network.
install_missing() {
  local entry missing=()
  if ! command -v dpkg-query >/dev/null; then
    say "Not a Debian or Ubuntu system: taking it that these are there: ${*%%:*}"
    return 0
  fi
  for entry in "$@"; do
    package_is_there "$entry" || missing+=("${entry%%:*}")
  done
  if [[ ${#missing[@]} -eq 0 ]]; then
    say "All packages needed are installed"
    return 0
  fi
  if [[ $(id -u) -ne 0 ]] && ! command -v sudo >/dev/null; then
    fail "missing packages, and neither root nor sudo to install them: ${missing[*]}"
  fi
  say "Installing packages: ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# The CUDA compiler, from PATH or its usual location. Fails if there is none.
find_nvcc() {
  command -v nvcc || { [[ -x /usr/local/cuda/bin/nvcc ]] && echo /usr/local/cuda/bin/nvcc; }
}

# Whether this machine has an NVIDIA GPU that responds.
have_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU'; }

# Ninja if it is installed, otherwise CMake's default generator.
use_ninja_if_present() {
  if [[ -z ${CMAKE_GENERATOR:-} ]] && command -v ninja >/dev/null; then
    export CMAKE_GENERATOR=Ninja
  fi
}
