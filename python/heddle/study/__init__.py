"""Studies: many matrices, many solvers, one command. `heddle study STUDY.yaml` is the door;
docs/studies.md describes files, keys and verdicts."""
