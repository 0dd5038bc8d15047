#!/usr/bin/env bash
# Copies what docs/atlas/ shows from the folder of a study of configs/atlas.yaml, and the values of
# its part for a GPU, configs/atlas_gpu.yaml, if that was run.
#
# usage: scripts/make-atlas.sh [FOLDER [GPU_FOLDER]]
#   FOLDER       of the study, by default results/studies/atlas
#   GPU_FOLDER   by default results/studies/atlas_gpu
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
report=${1:-results/studies/atlas}/report
[[ -f $report/values.csv ]] || {
  echo "make-atlas.sh: $report has no report: run 'heddle study configs/atlas.yaml' first" >&2
  exit 1
}
mkdir -p docs/atlas
cp "$report"/{values.csv,profiles.svg,phases.svg} docs/atlas/
# The folders of the runs are not copied, so that links to them become plain words.
sed -E 's|<a href="\.\./runs/[^"]*"[^>]*>([^<]*)</a>|\1|g; s|table\.csv|table.csv.gz|g; s|<code>[^<]*/(results/studies/[^<]*)</code>|<code>\1</code>|g' \
  "$report/report.html" >docs/atlas/report.html
gzip -9nc "$report/table.csv" >docs/atlas/table.csv.gz
gpu_values=${2:-results/studies/atlas_gpu}/report/values.csv
[[ ! -f $gpu_values ]] || gzip -9nc "$gpu_values" >docs/atlas/values_gpu.csv.gz
limit=$((5 << 20))
bytes=$(cat docs/atlas/* | wc -c)
((bytes <= limit)) || {
  echo "make-atlas.sh: docs/atlas has $bytes bytes, and $limit are allowed" >&2
  exit 1
}
