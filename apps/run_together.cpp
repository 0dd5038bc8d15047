#include <fmt/format.h>

#include <heddle/apps/interrupt.hpp>
#include <heddle/apps/run_together.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/context/mpi_processes.hpp>

namespace heddle::apps {
namespace {

/// Serves process 0, which alone listens to signals.
ExitCode follow(const std::shared_ptr<Processes>& processes) {
  ignore_signals();
  return static_cast<ExitCode>(serve(processes));
}

}  // namespace

int run_together(std::string_view program,
                 const std::function<ExitCode(const std::shared_ptr<Processes>&)>& body) {
  std::shared_ptr<Processes> processes;
  bool ended = false;  // by a return of `body` or of `serve`, not by an exception
  const auto led = [&] {
    processes = started_processes();
    if (processes && !processes->leads()) return ExitCode::converged;
    const ExitCode code = body(processes);
    ended = true;
    return code;
  };
  int code = run_reporting_failures(program, led);
  if (!processes) return code;
  if (!processes->leads()) {
    const std::string name = fmt::format("{}: process {}", program, processes->rank());
    code = run_reporting_failures(name, [&] {
      const ExitCode served = follow(processes);
      ended = true;
      return served;
    });
  } else if (ended) {
    dismiss(*processes, code);
  }
  if (!ended) processes->abort(code);
  return code;
}

}  // namespace heddle::apps
