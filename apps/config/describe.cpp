#include <fmt/format.h>

#include <algorithm>
#include <heddle/apps/config/schema.hpp>

namespace heddle::apps {
namespace {

std::string describe_default(const KeySpec& spec, SolverType solver) {
  if (spec.required) return "required";
  if (spec.fallback.empty()) return "optional";
  return fmt::format("default {}",
                     spec.fallback == kSolverPlaceholder ? solver_name(solver) : spec.fallback);
}

}  // namespace

std::string describe_keys(SolverType solver) {
  std::string text;
  for (const KeySpec& spec : config_schema()) {
    if (!spec.applies_to(solver)) continue;
    const auto depth =
        static_cast<std::size_t>(std::count(spec.path.begin(), spec.path.end(), '.'));
    const std::string indent(2 * depth, ' ');
    if (spec.forms.section && spec.fallback == "{}") {
      text += fmt::format("{}{}:  # {}\n", indent, spec.name(), spec.doc);
      continue;
    }
    text += fmt::format("{}{}:  # {}\n{}    # {}; {}\n", indent, spec.name(), spec.doc, indent,
                        spec.forms.describe(), describe_default(spec, solver));
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
  if (!path.empty()) return path.string();
  if (random > 0) return "random";
  return ones > 0 ? "ones" : "unit vectors";
}

std::string MatrixSource::describe() const {
  if (!structure) return path.string();
  return fmt::format("{} [{}]", structure->name, fmt::join(structure->size, ", "));
}

}  // namespace heddle::apps
