#pragma once

#include <functional>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/linalg/context/processes.hpp>
#include <memory>
#include <span>
#include <string_view>

namespace heddle::apps {

/// The processes that a launcher started, as process 0 leads them.
struct Together {
  std::shared_ptr<Processes> processes{};  ///< null: this one alone
  bool solving = false;  ///< whether the others may wait for this one in the middle of their work
};

/// Runs `body` on process 0 of the processes that a launcher started, as `run_reporting_failures`
/// does, while the others serve its solves. A failure of any process is reported by it and ends all
/// of them with its exit code. So does a process with other `arguments` or of another version than
/// process 0, which would otherwise be ignored or give other bits. Returns the exit code of this
/// process.
int run_together(std::string_view program, std::span<const char* const> arguments,
                 const std::function<ExitCode(Together&)>& body);

/// The same for a program that does not divide its work: process 0 does all of it, the others wait
/// and end with its exit code. `argv`: of `main`.
int run_on_process_0(std::string_view program, int argc, const char* const* argv,
                     const std::function<ExitCode()>& body);

}  // namespace heddle::apps
