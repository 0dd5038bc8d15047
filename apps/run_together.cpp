#include <fmt/format.h>

#include <cstdio>
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

int run_together(std::string_view program, const std::function<ExitCode(Together&)>& body) {
  Together together;
  const std::shared_ptr<Processes>& processes = together.processes;
  int code = run_reporting_failures(program, [&] {
    together.processes = started_processes();
    const bool follows = processes && !processes->leads();
    return follows ? ExitCode::converged : body(together);
  });
  if (!processes) return code;
  if (processes->leads()) {
    if (together.solving) {
      std::fflush(nullptr);  // abort may drop what is still in the buffers
      processes->abort(code);
    }
    dismiss(*processes, code);
    return code;
  }
  bool dismissed = false;
  const std::string name = fmt::format("{}: process {}", program, processes->rank());
  code = run_reporting_failures(name, [&] {
    const ExitCode served = follow(processes);
    dismissed = true;
    return served;
  });
  if (!dismissed) processes->abort(code);
  return code;
}

}  // namespace heddle::apps
