#!/usr/bin/env bash
# Times solves alone and beside busy loops: what a user meets on a machine that others use, too.
#
#   lab/shared_machine/run.sh [BUILD] [MATRICES] > table.md
#
# BUILD: folder of a build with the executables (default: build/release). MATRICES: folder of Matrix
# Market files; without it, only the quick start is timed. Prints a Markdown table with the medians of
# five runs alone and of five runs with a busy loop per CPU, run in turns, and their ratio. Exits with
# 1 if the ratio of a solve exceeds LIMIT (default 2.5). The first row shows what the system gives a
# program of one thread: on an idle machine of two cores a ratio of 1.5 to 2; above that, the machine
# was busy already.
#
# Environment: ROUNDS (5), LOOPS (one per CPU that this process may use), LIMIT (2.5). OMP_WAIT_POLICY
# and OMP_NUM_THREADS reach the executables.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$root/build/release}" && pwd)
matrices=${2:-${HEDDLE_MATRIX_DIR:-}}
[[ -z $matrices ]] || matrices=$(cd "$matrices" && pwd)
rounds=${ROUNDS:-5}
loops=${LOOPS:-$(nproc)}
limit=${LIMIT:-2.5}
work=$(mktemp -d)
busy=()

stop_loops() {
  if ((${#busy[@]})); then
    kill "${busy[@]}" 2>/dev/null || true
    wait "${busy[@]}" 2>/dev/null || true
    busy=()
  fi
}
trap 'stop_loops; rm -rf "$work"' EXIT

start_loops() {
  for ((i = 0; i < loops; ++i)); do
    (while :; do :; done) &
    busy+=($!)
  done
}

# seconds COMMAND...: wall-clock time of one run. Status 3 (the limit of iterations) is a run, too.
seconds() {
  local start end status=0
  start=$(date +%s.%N)
  "$@" >/dev/null 2>"$work/err" || status=$?
  end=$(date +%s.%N)
  if ((status != 0 && status != 3)); then
    echo "run.sh: $* exits with $status: $(cat "$work/err")" >&2
    exit 1
  fi
  awk -v a="$start" -v b="$end" 'BEGIN { printf "%.3f\n", b - a }'
}

median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }

# NAME MASS (- for none) PROGRAM WHICH
problems() {
  cat <<'LIST'
bcsstk01 - heddle-lobpcg largest
bcsstk09 - heddle-lobpcg largest
bcsstk16 - heddle-lobpcg largest
bcsstk17 - heddle-lanczos largest
bcsstk26 bcsstm26 heddle-lanczos smallest
bcsstk33 - heddle-lobpcg largest
1138_bus - heddle-lanczos smallest
Trefethen_2000 - heddle-lobpcg smallest
Dubcova1 - heddle-lobpcg smallest
Chem97ZtZ - heddle-lobpcg smallest
LIST
}

file_of() {
  local found
  for found in "$matrices/$1.mtx" "$matrices/$1.mtx.gz"; do
    if [[ -f $found ]]; then
      echo "$found"
      return
    fi
  done
  echo "run.sh: $matrices has no $1.mtx and no $1.mtx.gz" >&2
  exit 1
}

# measure NAME PROGRAM COMMAND...: prints a row and leaves the ratio in `ratio`.
measure() {
  local name=$1 program=$2 alone beside
  shift 2
  : >"$work/alone"
  : >"$work/beside"
  for ((round = 0; round < rounds; ++round)); do
    seconds "$@" >>"$work/alone"
    start_loops
    seconds "$@" >>"$work/beside"
    stop_loops
  done
  alone=$(median "$work/alone")
  beside=$(median "$work/beside")
  ratio=$(awk -v a="$alone" -v b="$beside" 'BEGIN { printf "%.2f", b / a }')
  printf '| %s | %s | %.3f | %.3f | %s |\n' "$name" "$program" "$alone" "$beside" "$ratio"
}

worst=0
solve() { # NAME PROGRAM CONFIG
  measure "$1" "$2" "$build/apps/$2" "$3" --quiet --set "output.directory=$work/out"
  worst=$(awk -v a="$worst" -v b="$ratio" 'BEGIN { print (b > a ? b : a) }')
}

echo "| problem | program | alone, s | beside $loops busy loops, s | ratio |"
echo "|---|---|---|---|---|"
measure "one thread that counts" awk awk 'BEGIN { for (i = 0; i < 2e7; ++i) s += i }'
solve quickstart heddle-lobpcg "$root/configs/quickstart.yaml"
if [[ -n $matrices ]]; then
  while read -r name mass program which; do
    {
      echo "problem:"
      echo "  matrix: $(file_of "$name")"
      [[ $mass == - ]] || echo "  mass: $(file_of "$mass")"
      echo "solver: {nev: 8, which: $which}"
    } >"$work/$name.yaml"
    solve "$name" "$program" "$work/$name.yaml"
  done < <(problems)
fi
awk -v worst="$worst" -v limit="$limit" 'BEGIN { exit worst > limit }'
