#include <fmt/format.h>

#include <algorithm>
#include <heddle/apps/config/programs.hpp>
#include <heddle/apps/config/schema.hpp>
#include <heddle/apps/standard_input.hpp>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::apps {
namespace {

std::string describe_default(const KeySpec& spec, SolverType solver) {
  if (spec.required) return "required";
  if (spec.fallback.empty()) return "optional";
  return fmt::format("default {}",
                     spec.fallback == kSolverPlaceholder ? method_name(solver) : spec.fallback);
}

/// The types that have the key, "all" if it is every one. `auto` is left out: it has the keys of
/// all.
std::string types_of(const KeySpec& spec) {
  if (spec.only_for.empty()) return "all";
  std::vector<std::string_view> names;
  for (const SolverType solver : spec.only_for) {
    if (solver != SolverType::automatic) names.push_back(method_name(solver));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Text escaped for a cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string markdown_default(const KeySpec& spec) {
  if (spec.required) return "required";
  if (spec.fallback.empty()) return "";
  if (spec.fallback == kSolverPlaceholder) return "the program's";
  return fmt::format("`{}`", spec.fallback);
}

std::string markdown_option(const KeySpec& spec) {
  return spec.option.empty() ? std::string() : fmt::format("`{}`", spec.option);
}

void add_markdown_row(std::string& text, const KeySpec& spec) {
  fmt::format_to(std::back_inserter(text), "| `{}` | {} | {} | {} | {} | {} |\n", spec.path,
                 cell(spec.forms.describe()), markdown_default(spec), markdown_option(spec),
                 cell(spec.doc), types_of(spec));
}

constexpr std::string_view kMarkdownHead =
    "# Configuration\n\n"
    "The keys of a configuration, as `heddle config --markdown` prints them. A dot in a key stands "
    "for one level of\na YAML map: `solver.nev` is `nev` in the map `solver`. Where a key has an "
    "option, `heddle solve` and the program\nof the method take it on the command line. "
    "`solver.type: auto`, the default of `heddle solve`, takes all keys.\nThose of a method that "
    "it "
    "does not choose have no effect if they only tune the method, which the log says.\n";

constexpr std::string_view kMarkdownEditors =
    "\n## In an editor\n\n"
    "`heddle config --schema > heddle.schema.json` prints a JSON Schema of these keys, which an "
    "installation has as\n`share/heddle/heddle.schema.json`. Editors with a YAML language server "
    "(VS Code with the extension YAML of Red Hat)\ncomplete and check a configuration that begins "
    "with a comment that names it, relative to the configuration:\n\n"
    "```yaml\n# yaml-language-server: $schema=heddle.schema.json\n```\n\n"
    "In VS Code, the setting `\"yaml.schemas\": {\"/usr/local/share/heddle/heddle.schema.json\": "
    "\"*.heddle.yaml\"}` does the\nsame for all files of that name. A file that names its "
    "`solver.type` is offered the keys of this type alone.\n";

constexpr std::string_view kMarkdownTable =
    "| key | values | default | option | meaning | types |\n"
    "| --- | --- | --- | --- | --- | --- |\n";

}  // namespace

std::string describe_keys(SolverType solver) {
  std::string text;
  for (const KeySpec& spec : config_schema()) {
    const bool any = solver == SolverType::automatic;
    if (!any && !spec.applies_to(solver)) continue;
    const std::string types =
        any && !spec.only_for.empty() ? fmt::format("; for {}", types_of(spec)) : "";
    const auto depth =
        static_cast<std::size_t>(std::count(spec.path.begin(), spec.path.end(), '.'));
    const std::string indent(2 * depth, ' ');
    if (spec.forms.section && spec.fallback == "{}") {
      text += fmt::format("{}{}:  # {}\n", indent, spec.name(), spec.doc);
      continue;
    }
    text += fmt::format("{}{}:  # {}\n{}    # {}; {}{}\n", indent, spec.name(), spec.doc, indent,
                        spec.forms.describe(), describe_default(spec, solver), types);
  }
  text += "\nstructures that `generate` knows, with their sizes:\n";
  for (const GalleryStructure& known : gallery_structures()) {
    text += fmt::format("  {} {}{}\n      {}\n", known.name, known.size,
                        known.density.empty() ? "" : fmt::format(", density: {}", known.density),
                        known.description);
  }
  return text;
}

std::string describe_keys_as_markdown() {
  std::string text(kMarkdownHead);
  std::string_view section;
  for (const KeySpec& spec : config_schema()) {
    const std::string_view top = std::string_view(spec.path).substr(0, spec.path.find('.'));
    const bool in_section = top != spec.path || spec.forms.section;
    const std::string_view heading = in_section ? top : "machine";
    if (heading != section) {
      section = heading;
      fmt::format_to(std::back_inserter(text), "\n## {}\n\n{}", section, kMarkdownTable);
    }
    add_markdown_row(text, spec);
  }
  text +=
      "\n## Structures\n\nWhat `generate` knows.\n\n| name | size | density | meaning |\n"
      "| --- | --- | --- | --- |\n";
  for (const GalleryStructure& known : gallery_structures()) {
    fmt::format_to(std::back_inserter(text), "| `{}` | `{}` | {} | {} |\n", known.name, known.size,
                   cell(known.density), cell(known.description));
  }
  text += kMarkdownEditors;
  return text;
}

std::string RhsConfig::describe() const {
  if (!path.empty()) return input_name(path);
  if (random > 0) return "random";
  return ones > 0 ? "ones" : "unit vectors";
}

std::string MatrixSource::describe() const {
  if (!structure) return input_name(path);
  return fmt::format("{} [{}]", structure->name, fmt::join(structure->size, ", "));
}

std::string MatrixSource::name() const {
  if (structure) return structure->name;
  if (path == "-") return "stdin";
  const std::filesystem::path file = path.filename();
  return (file.extension() == ".gz" ? file.stem() : file).stem().string();
}

}  // namespace heddle::apps
