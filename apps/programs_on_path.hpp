#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The programs heddle-NAME beside this executable and on the path.
namespace heddle::apps {

/// The names of the programs heddle-NAME: those in the folder of this executable, then those on the
/// path, each once, sorted.
std::vector<std::string> program_names();

/// The file of the program heddle-NAME: in the folder of this executable, else on the path.
std::optional<std::filesystem::path> find_program(std::string_view name);

}  // namespace heddle::apps
