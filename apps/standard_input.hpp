#pragma once

#include <filesystem>
#include <heddle/linalg/base/error.hpp>
#include <string>
#include <string_view>

/// Standard input as an input file, whose name on command lines and in configurations is `-`.
namespace heddle::apps {

inline constexpr std::string_view kStandardInput = "-";

/// The name of an input file in messages: its path, or "standard input".
std::string input_name(const std::filesystem::path& path);

/// The path of a file with the content of standard input. The content of a pipe is copied to a
/// temporary file, which exists until the process ends. Throws `InputError` if this fails.
const std::filesystem::path& standard_input_file();

/// As `standard_input_file`, for the one reader of standard input. `reader` is its name in the
/// message of the `InvalidArgument` that a second reader causes.
const std::filesystem::path& claim_standard_input(std::string_view reader);

/// `error` with the name "standard input" in place of the path of the file that holds its content.
InputError about_standard_input(const InputError& error);

}  // namespace heddle::apps
