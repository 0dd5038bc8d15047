#!/usr/bin/env python3
"""Checks what nothing here builds: Dockerfiles, recipes for Spack and conda, CITATION.cff. One line
per finding, `file:line: what`, and exit code 1. RUN lines go through shellcheck where it is there.

usage: scripts/check-packaging.py [ROOT]"""

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

INSTRUCTIONS = set("ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL ONBUILD RUN SHELL "
                   "STOPSIGNAL USER VOLUME WORKDIR".split())
CITATION_KEYS = ("cff-version", "message", "title", "version", "license", "authors")


def dockerfile_instructions(text):
    """(line, instruction, arguments) with continued lines joined and comments left out."""
    joined, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip().startswith("#") or (not joined and not line.strip()):
            continue
        start = start if joined else number
        if line.endswith("\\"):
            joined += line[:-1] + " "
            continue
        instruction, _, arguments = (joined + line).strip().partition(" ")
        yield start, instruction, arguments.strip()
        joined = ""
    if joined:
        yield start, "", "ends in the middle of an instruction"


def check_image(arguments, stages):
    """A base image has a tag of its own, so that the same file gives the same image for long."""
    words = [word for word in arguments.split() if not word.startswith("--")]
    image = words[0] if words else ""
    if len(words) == 3 and words[1].upper() == "AS":
        stages.append(words[2])
    elif len(words) != 1:
        yield "FROM takes IMAGE or IMAGE AS NAME"
    if image in stages[:-1] or "@sha256:" in image:
        return
    name, _, tag = image.rpartition("/")[2].partition(":")
    if not tag or tag == "latest":
        yield f"the image {name} needs a tag other than latest"


def check_copy(root, arguments, stages):
    words = arguments.split()
    flags = [word for word in words if word.startswith("--")]
    paths = [word for word in words if not word.startswith("--")]
    if len(paths) < 2:
        yield "COPY takes sources and a destination"
    origin = [flag.partition("=")[2] for flag in flags if flag.startswith("--from=")]
    if origin:
        if origin[0] not in stages:
            yield f"there is no stage {origin[0]} to copy from"
        return
    for path in paths[:-1]:
        if not (root / path).exists():
            yield f"{path} is not in the sources"


def shell_findings(script, shell):
    if shutil.which("shellcheck") is None:
        return
    done = subprocess.run(["shellcheck", f"--shell={shell}", "--format=json", "--exclude=SC1091,SC2154",
                           "-"], input=script, text=True, capture_output=True)
    for finding in json.loads(done.stdout or "[]"):
        yield f"SC{finding['code']}: {finding['message']}"


def check_run(arguments, shell):
    for installs in re.findall(r"apt-get\s+install[^;&|]*", arguments):
        if not re.search(r"\s(-y|-qy|--yes)\b", installs):
            yield "apt-get install without -y waits for an answer"
        if "--no-install-recommends" not in installs:
            yield "apt-get install without --no-install-recommends"
    if re.search(r"apt-get|install_missing", arguments) and "rm -rf /var/lib/apt/lists" not in arguments:
        yield "the lists of packages stay in the image: rm -rf /var/lib/apt/lists/*"
    if re.search(r"\bsudo\b|apt-get\s+(upgrade|dist-upgrade)|chmod\s+777", arguments):
        yield "sudo, upgrades and chmod 777 have no place in an image"
    yield from shell_findings(arguments + "\n", shell)


def check_command(arguments):
    try:
        words = json.loads(arguments)
    except ValueError:
        words = None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        yield 'the command needs the form ["program", "argument"]'


def check_dockerfile(root, path):
    stages, user, shell, seen_from = [], None, "sh", False
    for line, instruction, arguments in dockerfile_instructions((root / path).read_text()):
        found = []
        if instruction not in INSTRUCTIONS:
            found.append(f"{instruction or 'the file'}: {'no instruction' if instruction else arguments}")
        elif not arguments:
            found.append(f"{instruction} without arguments")
        elif not seen_from and instruction not in ("FROM", "ARG"):
            found.append(f"{instruction} before FROM")
        if instruction == "FROM":
            seen_from, user, shell = True, None, "sh"
            found += check_image(arguments, stages)
        elif instruction == "COPY":
            found += check_copy(root, arguments, stages)
        elif instruction == "ADD":
            found.append("COPY says more clearly what is copied than ADD")
        elif instruction == "RUN":
            found += check_run(arguments, shell)
        elif instruction in ("CMD", "ENTRYPOINT", "SHELL"):
            found += check_command(arguments)
            shell = "bash" if instruction == "SHELL" and "bash" in arguments else shell
        elif instruction == "WORKDIR" and not arguments.startswith("/"):
            found.append("WORKDIR needs an absolute path")
        elif instruction == "USER":
            user = arguments
        yield from (f"{path}:{line}: {what}" for what in found)
    if user in (None, "root", "0"):
        yield f"{path}:1: the last stage runs as root: it needs a USER"


def check_options(root, path):
    """-DHEDDLE_X and define("HEDDLE_X"): an option of that name exists."""
    text = "\n".join(found.read_text() for found in
                     [root / "CMakeLists.txt", *(root / "cmake").glob("*.cmake")])
    known = set(re.findall(r"(?:option|set)\((HEDDLE_\w+)", text))
    for number, line in enumerate((root / path).read_text().splitlines(), 1):
        for name in re.findall(r"-D(HEDDLE_\w+)=|[\"'](HEDDLE_\w+)[\"']", line):
            if (name[0] or name[1]) not in known:
                yield f"{path}:{number}: CMake knows no option {name[0] or name[1]}"


def project_version(root):
    found = re.search(r"project\(heddle VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text())
    return found[1] if found else "unknown"


def check_version(root, path, pattern):
    """Every version that the pattern finds is that of CMakeLists.txt, and there is one."""
    version, text = project_version(root), (root / path).read_text()
    matches = list(re.finditer(pattern, text, re.MULTILINE))
    if not matches:
        yield f"{path}:1: names no version"
    for match in matches:
        if match[1] != version:
            line = text.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: version {match[1]}, CMakeLists.txt says {version}"


def check_citation(root, path):
    text = (root / path).read_text()
    keys = re.findall(r"^([a-z-]+):", text, re.MULTILINE)
    yield from (f"{path}:1: {key} is missing" for key in CITATION_KEYS if key not in keys)
    yield from (f"{path}:1: {key} is given twice" for key in set(keys) if keys.count(key) > 1)
    for number, line in enumerate(text.splitlines(), 1):
        if "\t" in line:
            yield f"{path}:{number}: a tab, which YAML does not take"
        if doi := re.match(r"\s*doi:\s*(.*)", line):
            if not re.fullmatch(r"10\.\d{4,9}/\S+", doi[1]):
                yield f"{path}:{number}: {doi[1]} is no DOI"
    if "BSD-3-Clause" in text and not (root / "LICENSE").read_text().startswith("BSD 3-Clause"):
        yield f"{path}:1: BSD-3-Clause, but LICENSE is another"
    yield from check_version(root, path, r"^version: (\S+)")


def check_spack(root, path):
    """Also what Spack 1.0 asks of a repository and of a recipe."""
    text = (root / path).read_text()
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        yield f"{path}:{error.lineno}: {error.msg}"
        return
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
                and node.module.startswith("spack_repo.builtin.build_systems") for name in node.names}
    for node in tree.body:
        for base in node.bases if isinstance(node, ast.ClassDef) else []:
            if base.id not in imported:
                yield f"{path}:{node.lineno}: {base.id} comes from spack_repo.builtin.build_systems"
    variants = set(re.findall(r"    variant\(\"(\w+)\"", text)) | {"cuda"}
    for number, line in enumerate(text.splitlines(), 1):
        used = re.findall(r"define_from_variant\(\"\w+\", \"(\w+)\"|\"\+(\w+)\"", line)
        for name in (one or other for one, other in used):
            if name not in variants:
                yield f"{path}:{number}: there is no variant {name}"
    repository = path.parent.parent.parent
    if f"namespace: {repository.name}\n  api: v2." not in (root / repository / "repo.yaml").read_text():
        yield f"{repository}/repo.yaml:2: the namespace is that of the folder, the api v2"
    yield from check_version(root, path, r"(?:^    version\(\"|heddle@)([\d.]+)")


def check_conda(root, path):
    """Scripts are there, and the recipe is YAML once Jinja has filled it in, where Python has both."""
    text = (root / path).read_text()
    for script in re.findall(r"^ +script: (\S+)", text, re.MULTILINE):
        if not (root / path.parent / script).exists():
            yield f"{path}:1: there is no script {script}"
    yield from check_version(root, path, r"set version = \"([\d.]+)\"")
    try:
        import jinja2
        import yaml
    except ImportError:
        return
    words = {"mpi": "openmpi", "PKG_HASH": "0", "compiler": str, "stdlib": str,
             "pin_subpackage": lambda name, **_: name}
    try:
        recipe = yaml.safe_load(jinja2.Template(text, undefined=jinja2.StrictUndefined).render(words))
        names = [output["name"] for output in recipe["outputs"]]
    except (jinja2.TemplateError, yaml.YAMLError, KeyError, TypeError) as error:
        yield f"{path}:1: {' '.join(str(error).split())}"
        return
    yield from (f"{path}:1: two outputs {name}" for name in set(names) if names.count(name) > 1)


def findings(root):
    for path in sorted((root / "packaging/docker").glob("Dockerfile*")):
        if path.suffix != ".dockerignore":
            yield from check_dockerfile(root, path.relative_to(root))
    yield from check_spack(root, Path("packaging/spack/spack_repo/heddle/packages/heddle/package.py"))
    yield from check_conda(root, Path("packaging/conda/meta.yaml"))
    yield from check_citation(root, Path("CITATION.cff"))
    for path in sorted((root / "packaging").rglob("*")):
        if path.is_file():
            yield from check_options(root, path.relative_to(root))


if __name__ == "__main__":
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    found = list(findings(tree))
    for finding in found:
        print(finding)
    sys.exit(1 if found else 0)
