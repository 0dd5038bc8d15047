#include <fmt/format.h>

#include <algorithm>
#include <heddle/apps/config/programs.hpp>
#include <heddle/apps/config/schema.hpp>
#include <heddle/apps/standard_input.hpp>
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

}  // namespace

std::string types_of(const KeySpec& spec) {
  if (spec.only_for.empty()) return "all";
  std::vector<std::string_view> names;
  for (const SolverType solver : spec.only_for) {
    if (solver != SolverType::automatic) names.push_back(method_name(solver));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

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
