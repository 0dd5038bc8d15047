#!/bin/sh
# Compiler launcher of builds with HEDDLE_WERROR. It runs a compiler without -Werror and fails,
# without an object, if a warning lies in a line of the project. Warnings inside the headers of the
# system and of libraries, where optimisers report false alarms, are printed once each, in a line.
#
# usage: own-warnings.sh PROJECT COMPILER ARGUMENTS...
#
# PROJECT is the folder of the project, without symbolic links. Its folders .* and build* are not
# its own: they hold environments of Python, for example.
set -u
project=$1
shift

# The warnings are looked for in English.
case ${LC_ALL:-${LC_MESSAGES:-${LANG:-C}}} in
  C* | POSIX | en*) ;;
  *)
    LC_ALL=C
    export LC_ALL
    ;;
esac
messages=$("$@" 2>&1)
status=$?
print_messages() { [ -z "$messages" ] || printf '%s\n' "$messages" >&2; }
case $status/$messages in
  0/*warning*) ;;
  *)
    print_messages
    exit "$status"
    ;;
esac

# The lines "file:line:column: warning: text" of g++ and clang, and "file(line): warning text" of
# nvcc, in three columns.
tab=$(printf '\t') escape=$(printf '\033')
list_warnings() {
  sed -n -e "s/$escape\[[0-9;]*[mK]//g" \
    -e "s/^\([^:]*\):\([0-9:]*\): warning: /\1$tab\2$tab/p" \
    -e "s/^\(.*\)(\([0-9]*\)): warning /\1$tab\2$tab/p" | sort -u
}

list_errors() { # the warnings in lines of the project, as errors
  while IFS=$tab read -r file line text; do
    [ -f "$file" ] || continue
    folder=$(CDPATH='' cd -P "$(dirname "$file")" && pwd -P)
    path=$folder/${file##*/}
    case $path in
      "$project"/build* | "$project"/.*) ;;
      "$project"/*) printf '%s:%s: error: %s\n' "${path#"$project"/}" "$line" "$text" ;;
    esac
  done
}

errors=$(printf '%s\n' "$messages" | list_warnings | list_errors)
if [ -z "$errors" ]; then
  printf '%s\n' "$messages" | grep warning | sort -u >&2
  exit 0
fi
print_messages
printf '%s\n' "$errors" "HEDDLE_WERROR: warnings in lines of the project are errors" >&2
previous=
for argument; do
  [ "$previous" != -o ] || rm -f "$argument"
  previous=$argument
done
exit 1
