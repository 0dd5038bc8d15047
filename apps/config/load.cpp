#include <heddle/apps/config/settings.hpp>
#include <heddle/apps/config/subject.hpp>

namespace heddle::apps {

Config load_config(const std::string& subject, const std::vector<Setting>& settings,
                   const std::vector<std::string>& overrides, SolverType solver) {
  GivenConfig given = read_subject(subject, solver);
  apply_settings(given.tree, settings);
  for (const std::string& assignment : overrides) apply_override(given.tree, assignment);
  return resolve_config(given.tree, solver, given.name);
}

}  // namespace heddle::apps
