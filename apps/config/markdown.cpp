#include <fmt/format.h>

#include <heddle/apps/config/schema.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <iterator>
#include <string>
#include <string_view>

/// docs/configuration.md.
namespace heddle::apps {
namespace {

constexpr std::string_view kHead = R"(# Configuration

A configuration is a YAML file that `heddle solve FILE.yaml` takes. Eleven keys are enough for most problems. Options of the command line, such
as `-n`, take the place of keys. Files are relative to the configuration. `heddle config --markdown` prints this page.

| task | key | option |
|---|---|---|
| [the matrix](#the-matrix) | `problem.matrix` | the first argument |
| [modes of K and M](#modes-of-k-and-m) | `problem.mass` | `--mass` |
| [load factors of K and K_g](#load-factors-of-k-and-k_g) | `problem.geometric_stiffness` | `--buckling` |
| [how many eigenpairs, which end](#how-many-eigenpairs-which-end) | `solver.nev`, `solver.which` | `-n`, `--which` |
| [all eigenpairs in a range](#all-eigenpairs-in-a-range) | `solver.interval` | `--interval` |
| [A X = B](#linear-systems) | `problem.rhs` | `--rhs` |
| [how exact](#how-exact) | `solver.tolerance` | `--tol` |
| [CPU or GPU](#cpu-or-gpu) | `device` | `--device` |
| [keep the vectors](#keep-the-vectors) | `output.eigenvectors` | `--eigenvectors` |
| [a long solve](#a-long-solve) | `checkpoint.file` | `--checkpoint` |

## The keys that people set

### The matrix

```yaml
problem: {matrix: K.mtx}          # a file, or {generate: laplace3d, size: [20, 20, 20]}
```

### Modes of K and M

```yaml
problem: {matrix: K.mtx, mass: M.mtx}          # K x = lambda M x; frequencies are sqrt(lambda) / (2 pi)
```

### Load factors of K and K_g

```yaml
problem: {matrix: K.mtx, geometric_stiffness: KG.mtx}          # K x = -lambda K_g x, lambda > 0; solver.side: both for both signs
```

### How many eigenpairs, which end

```yaml
problem: {matrix: K.mtx}
solver: {nev: 10, which: largest}          # without them: 6, smallest
```

### All eigenpairs in a range

```yaml
problem: {matrix: K.mtx}
solver: {which: interval, interval: [0.0, 0.1]}          # nev: 100: at most 100
```

### Linear systems

```yaml
problem: {matrix: K.mtx, rhs: B.npy}          # a column per right-hand side; or {random: 8}
```

### How exact

```yaml
problem: {matrix: K.mtx}
solver: {tolerance: 1.0e-10}          # of eigenvalues: relative; the default is 1e-8
```

### CPU or GPU

```yaml
problem: {matrix: K.mtx}
device: host          # cuda: a GPU, or an error; auto, the default: a GPU where there is one
```

### Keep the vectors

```yaml
problem: {matrix: K.mtx}
output: {eigenvectors: npy, directory: results/K}          # results/K/eigenvectors.npy
```

### A long solve

```yaml
problem: {matrix: K.mtx}
checkpoint: {file: K.checkpoint, every_s: 600}          # --resume goes on after a stop
```

## All keys

A dot in a key stands for one level of a YAML map: `solver.nev` is `nev` in the map `solver`. In parentheses: the option, which
`heddle solve` and the program of the method take, and the values of `solver.type` that have the key. `solver.type: auto`, the default of
`heddle solve`, takes all keys. Those of a method that it does not choose have no effect if they only tune the method, which the log says.
)";

constexpr std::string_view kEditors = R"(
## In an editor

`heddle config --schema > heddle.schema.json` prints a JSON Schema of these keys, which an installation has as
`share/heddle/heddle.schema.json`. Editors with a YAML language server (VS Code with the extension YAML of Red Hat)
complete and check a configuration that begins with a comment that names it, relative to the configuration:

```yaml
# yaml-language-server: $schema=heddle.schema.json
```

In VS Code, the setting `"yaml.schemas": {"/usr/local/share/heddle/heddle.schema.json": "*.heddle.yaml"}` does the
same for all files of that name. A file that names its `solver.type` is offered the keys of this type alone.
)";

/// Text in which Markdown sees no marks.
std::string plain(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '*') escaped += '\\';
    escaped += c == '<' ? "&lt;" : std::string(1, c);
  }
  return escaped;
}

/// The clauses of a description, which ends the line where it has one: else an item of a list for
/// each.
std::string clauses(std::string_view text) {
  if (text.find("; ") == std::string_view::npos) return fmt::format(" – {}\n", plain(text));
  std::string list = "\n";
  while (!text.empty()) {
    const std::size_t end = text.find("; ");
    list += fmt::format("    - {}\n", plain(text.substr(0, end)));
    text = end == std::string_view::npos ? "" : text.substr(end + 2);
  }
  return list;
}

std::string fallback_of(const KeySpec& spec) {
  if (spec.required) return "; required";
  if (spec.fallback.empty()) return "";
  if (spec.fallback == kSolverPlaceholder) return "; default: the program's";
  return fmt::format("; default `{}`", spec.fallback);
}

void add_key(std::string& text, const KeySpec& spec) {
  std::string who = spec.option.empty() ? "" : fmt::format("`{}`", spec.option);
  if (!spec.only_for.empty()) who += fmt::format("{}{}", who.empty() ? "" : "; ", types_of(spec));
  fmt::format_to(std::back_inserter(text), "- **`{}`**{}: {}{}{}", spec.path,
                 who.empty() ? "" : fmt::format(" ({})", who), plain(spec.forms.describe()),
                 fallback_of(spec), clauses(spec.doc));
}

}  // namespace

std::string describe_keys_as_markdown() {
  std::string text(kHead);
  std::string_view section;
  for (const KeySpec& spec : config_schema()) {
    const std::string_view top = std::string_view(spec.path).substr(0, spec.path.find('.'));
    const bool in_section = top != spec.path || spec.forms.section;
    const std::string_view heading = in_section ? top : "machine";
    if (heading != section) {
      section = heading;
      fmt::format_to(std::back_inserter(text), "\n### {}\n\n", section);
    }
    add_key(text, spec);
  }
  text += "\n### Structures\n\nWhat `generate` knows, with the sizes.\n\n";
  for (const GalleryStructure& known : gallery_structures()) {
    fmt::format_to(std::back_inserter(text), "- **`{}`** `{}`{}{}", known.name, known.size,
                   known.density.empty() ? "" : fmt::format(", density: {}", known.density),
                   clauses(known.description));
  }
  text += kEditors;
  return text;
}

}  // namespace heddle::apps
