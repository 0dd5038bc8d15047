#pragma once

#include <functional>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/linalg/context/processes.hpp>
#include <memory>
#include <string_view>

namespace heddle::apps {

/// Runs `body` on process 0 of the processes that a launcher started, as `run_reporting_failures`
/// does, while the others serve its solves. `body` gets the processes, null if there is only this
/// one. A failure of any process is reported by it and ends all of them with its exit code. Returns
/// the exit code of this process.
int run_together(std::string_view program,
                 const std::function<ExitCode(const std::shared_ptr<Processes>&)>& body);

}  // namespace heddle::apps
