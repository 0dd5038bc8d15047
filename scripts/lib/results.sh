# shellcheck shell=bash
# Sourced by scripts/test.sh after common.sh: runs checks, builds and tests, counts them, and closes
# with what failed, the times, and "N passed, N failed, N skipped". $part names the part that runs.

passed=0 failed=0 skipped=0
failures=()             # lines that name what failed
time_labels=()          # in the order of their first use
declare -A time_spent=() # seconds by label
part=

add_time() { # LABEL BEGIN
  [[ -n ${time_spent[$1]:-} ]] || time_labels+=("$1")
  time_spent[$1]=$((${time_spent[$1]:-0} + SECONDS - $2))
}

add_failure() { # LINE
  failed=$((failed + 1))
  failures+=("$1")
  say "FAILED: $1"
}

# The first error in a log of compilers, cmake, pip or a check. If none is marked as an error, the
# first line that says FAILED, or the last line.
first_error() { # LOG
  local error
  error=$(awk '/^CMake Error/ { head = $0; next }
    head != "" && NF { sub(/^ */, ""); print head " " $0; exit }
    /(^|[^[:alnum:]_-])(error|Error|ERROR):|undefined reference/ { print; exit }' "$1")
  [[ -n $error ]] || error=$(grep -m 1 '^FAILED: ' "$1") ||
    error=$(grep -v '^[[:space:]]*$' "$1" | tail -n 1)
  printf '%s' "${error:0:300}"
}

# Runs a command in a shell of its own, its output on the terminal and in a log of build/logs. It is
# counted like a test. An exit code of 77 says that it was skipped.
logged() { # NAME VERB COMMAND...
  local name=$1 verb=$2 log=build/logs/${1//[^A-Za-z0-9]/-}.log status=0
  shift 2
  mkdir -p build/logs
  say "$name"
  "$@" 2>&1 | tee "$log" || status=$?
  case $status in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) && say "skipped: $name" ;;
    *) add_failure "$verb: $name: $(first_error "$log")" ;;
  esac
  return "$status"
}

check() { # NAME COMMAND...
  local name=$1 begin=$SECONDS status=0
  shift
  logged "$name" failed "$@" || status=$?
  add_time "$part" "$begin"
  return "$status"
}

# What the rest of a part needs: where it fails, the caller leaves the part.
build() { # NAME COMMAND...
  local name=$1 begin=$SECONDS status=0
  shift
  logged "$name" "could not be built" "$@" || status=$?
  add_time "$part build" "$begin"
  return "$status"
}

# Runs a command that writes a report in JUnit's form, and counts the tests in it.
run_tests() { # NAME REPORT COMMAND...
  local name=$1 report=$2 begin=$SECONDS status=0 before=$failed counts line
  shift 2
  rm -f "$report"
  say "Running the tests of $name"
  "$@" || status=$?
  add_time "$part tests" "$begin"
  if ! counts=$(python3 scripts/lib/junit.py "$report"); then
    add_failure "failed: $name: no tests in $report, exit code $status"
    return
  fi
  while read -r line; do
    case $line in
      "passed "*) passed=$((passed + ${line#* })) ;;
      "skipped "*) skipped=$((skipped + ${line#* })) ;;
      *) add_failure "failed: $name: $line" ;;
    esac
  done <<<"$counts"
  if [[ $status -ne 0 && $failed -eq $before ]]; then
    add_failure "failed: $name: exit code $status, and no test that failed in $report"
  fi
}

# The closing lines. Fails if anything has failed.
close_results() {
  local label line='' shown=${#failures[@]}
  [[ $shown -le 40 ]] || shown=40
  [[ $shown -eq 0 ]] || printf '%s\n' "${failures[@]:0:shown}"
  [[ $shown -eq ${#failures[@]} ]] || echo "and $((${#failures[@]} - shown)) more that failed"
  for label in "${time_labels[@]}"; do line+="$label ${time_spent[$label]} s, "; done
  echo "times: ${line}all $SECONDS s"
  echo "$passed passed, $failed failed, $skipped skipped"
  [[ $failed -eq 0 ]]
}
