#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <heddle/apps/interrupt.hpp>
#include <heddle/apps/run_together.hpp>
#include <heddle/apps/version.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/processes.hpp>
#include <string>
#include <vector>

namespace heddle::apps {
namespace {

/// Serves process 0, which alone listens to signals.
ExitCode follow(const std::shared_ptr<Processes>& processes) {
  ignore_signals();
  return static_cast<ExitCode>(serve(processes));
}

/// `own` of all processes, which call it together.
std::vector<std::string> texts_of_all(Processes& processes, const std::string& own) {
  const auto count = static_cast<std::size_t>(processes.size());
  const std::size_t size = own.size();
  std::vector<std::size_t> sizes(count);
  processes.gather_all(&size, sizes.data(), sizeof size);
  const std::size_t longest = *std::max_element(sizes.begin(), sizes.end());
  std::string padded = own;
  padded.resize(longest);
  std::string all(longest * count, ' ');
  processes.gather_all(padded.data(), all.data(), longest);
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < count; ++k) texts.push_back(all.substr(k * longest, sizes[k]));
  return texts;
}

/// Throws, on process 0 alone, if a process was not started as process 0 was.
void check_same_start(Processes& processes, std::string_view program,
                      std::span<const char* const> arguments) {
  const std::string started =
      fmt::format("{}{}{} {}: {} {}", kVersions.heddle, kVersions.commit.empty() ? "" : " ",
                  kVersions.commit, kVersions.build_type, program, fmt::join(arguments, " "));
  const std::vector<std::string> all = texts_of_all(processes, started);
  if (!processes.leads()) return;
  const auto other = std::find_if(all.begin(), all.end(),
                                  [&](const std::string& text) { return text != started; });
  if (other == all.end()) return;
  throw InvalidArgument(fmt::format(
      "process 0 is \"{}\", but process {} is \"{}\": start all processes from the same "
      "build with the same arguments",
      started, other - all.begin(), *other));
}

}  // namespace

int run_together(std::string_view program, std::span<const char* const> arguments,
                 const std::function<ExitCode(Together&)>& body) {
  Together together;
  const std::shared_ptr<Processes>& processes = together.processes;
  int code = run_reporting_failures(program, [&] {
    together.processes = started_processes();
    if (processes) check_same_start(*processes, program, arguments);
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

int run_on_process_0(std::string_view program, int argc, const char* const* argv,
                     const std::function<ExitCode()>& body) {
  const std::span arguments(argv + 1, static_cast<std::size_t>(std::max(argc - 1, 0)));
  return run_together(program, arguments, [&](Together&) { return body(); });
}

}  // namespace heddle::apps
