#pragma once

#include <filesystem>

/// The messages of the executables in addition to their results, as messages of spdlog's default
/// logger.
///
/// | level | stderr | log file |
/// |---|---|---|
/// | error (also warnings) | shown | written |
/// | info (header, progress) | shown unless quiet | written |
/// | debug (configuration, kernel, times of the stages) | shown if verbose | written |
/// | trace (stages, results, the error that ended the run) | not shown | written |
namespace heddle::apps {

/// Makes the logger, without a log file.
void start_log(bool quiet, bool verbose);

/// Appends from now on all messages to the file `path`, each with date and time in UTC. Its folder
/// is created. Throws `InputError` if the file cannot be written.
void add_log_file(const std::filesystem::path& path);

}  // namespace heddle::apps
