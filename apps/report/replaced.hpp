#pragma once

#include <filesystem>
#include <heddle/apps/config/config.hpp>
#include <heddle/apps/report/run_facts.hpp>
#include <string>
#include <vector>

namespace heddle::apps {

/// What the results in `directory`, or those that an earlier run kept in its subfolder `previous`,
/// are results of, as far as `config` and `inputs` differ from it: the problem, the wanted pairs,
/// and files with other contents. Empty if there are no results, or those of the same problem.
std::string describe_replaced(const std::filesystem::path& directory, const Config& config,
                              const std::vector<InputSum>& inputs);

}  // namespace heddle::apps
