#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <heddle/apps/command_line.hpp>
#include <heddle/apps/version.hpp>

namespace heddle::apps {
namespace {

constexpr std::string_view kFooter = R"(
Results go to stdout and to the folder output.directory: result.json, history.csv, vectors.
Header, progress and errors go to stderr. Ctrl-C ends the solve with the results so far, a second
one at once. Where the configuration keeps a checkpoint, --resume goes on from where it ended.

Exit codes:
    0  converged and verified
    1  usage or configuration
    2  an input file that cannot be used, or an output that cannot be written
    3  not converged: iteration or time limit
    4  breakdown, stagnation, or a matrix that is not positive definite
    5  device or memory
    6  converged, but fresh products did not confirm it
  130  interrupted)";

}  // namespace

std::optional<CommandLine> parse_command_line(int argc, const char* const* argv, SolverType solver,
                                              std::string_view name, std::string_view description) {
  CommandLine line;
  std::string config;
  std::string keys;  // the format in which to list the keys, empty for no list
  CLI::App app{std::string(description), std::string(name)};
  app.footer(std::string(kFooter));
  app.add_option("CONFIG", config, "YAML file that says what to solve and how");
  app.add_option("--set", line.overrides,
                 "KEY=VALUE overrides the file, e.g. solver.nev=20; VALUE is YAML, files in it are "
                 "relative to the current folder; may be given again")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  app.add_flag(
      "--validate", line.validate,
      "check the configuration and the files it names, say what would be solved, and stop");
  app.add_flag("--print-config", line.print_config,
               "print the configuration with overrides and defaults as YAML, and stop");
  app.add_flag("--help-config{text}", keys,
               "list the keys of the configuration, and stop; =markdown: those of all executables");
  app.add_flag("--resume", line.resume,
               "go on from the checkpoint.file that an earlier run of the same problem kept");
  app.add_flag("--profile", line.profile,
               "print seconds, bytes and operations of each phase of the solve, too");
  app.add_flag("-q,--quiet", line.quiet, "no header and no progress");
  app.set_version_flag("--version", version_text(name));
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {
    app.exit(request);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw InvalidArgument(fmt::format("{}; see {} --help", error.what(), name));
  }
  if (!keys.empty()) {
    if (keys != "text" && keys != "markdown") {
      throw InvalidArgument(
          fmt::format("--help-config is text or markdown, not {}; see {} --help", keys, name));
    }
    fmt::print("{}", keys == "text" ? describe_keys(solver) : describe_keys_as_markdown());
    return std::nullopt;
  }
  if (config.empty()) {
    throw InvalidArgument(
        fmt::format("a configuration file is missing; usage: {} CONFIG.yaml "
                    "[--set KEY=VALUE ...], see {} --help",
                    name, name));
  }
  line.config = config;
  return line;
}

}  // namespace heddle::apps
