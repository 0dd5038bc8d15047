#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <heddle/apps/run_log.hpp>
#include <heddle/linalg/base/error.hpp>
#include <memory>
#include <utility>

namespace heddle::apps {

void start_log(bool quiet, bool verbose) {
  auto terminal = std::make_shared<spdlog::sinks::stderr_sink_st>();
  terminal->set_pattern("%v");
  terminal->set_level(quiet     ? spdlog::level::err
                      : verbose ? spdlog::level::debug
                                : spdlog::level::info);
  auto log = std::make_shared<spdlog::logger>("heddle", std::move(terminal));
  log->set_level(spdlog::level::trace);
  log->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(log));
}

void add_log_file(const std::filesystem::path& path) {
  try {
    auto file = std::make_shared<spdlog::sinks::basic_file_sink_st>(path.string());
    file->set_level(spdlog::level::trace);
    file->set_formatter(std::make_unique<spdlog::pattern_formatter>(
        "%Y-%m-%dT%H:%M:%S.%eZ  %v", spdlog::pattern_time_type::utc));
    spdlog::default_logger()->sinks().push_back(std::move(file));
  } catch (const spdlog::spdlog_ex&) {
    throw InputError(path.string(), 0, "cannot be written as the log file");
  }
}

}  // namespace heddle::apps
