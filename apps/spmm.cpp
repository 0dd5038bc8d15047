#include <cstdio>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/apps/report/output_files.hpp>
#include <heddle/apps/run_together.hpp>
#include <heddle/apps/spmm/command_line.hpp>

int main(int argc, char** argv) {
  using namespace heddle::apps;
  return run_on_process_0(kSpmmName, argc, argv, [&] {
    const auto line = parse_spmm_command_line(argc, argv);
    if (!line) return ExitCode::converged;
    const SpmmProductReport report = multiply(line->product);
    if (line->json != "-") std::fputs(to_text(report).c_str(), stdout);
    if (line->json == "-") std::fputs(to_json(report).c_str(), stdout);
    if (!line->json.empty() && line->json != "-") write_text(line->json, to_json(report));
    return ExitCode::converged;
  });
}
