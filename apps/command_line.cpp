#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <heddle/apps/command_line.hpp>
#include <heddle/apps/version.hpp>
#include <heddle/linalg/formats/formats.hpp>
#include <utility>

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
    6  converged, but products computed anew did not confirm it
  130  interrupted)";

/// The options of a program for CLI11, and the values that they store.
class SolverOptions {
 public:
  explicit SolverOptions(const SolverProgram& program)
      : program_(program),
        app_(std::string(program.description), std::string(program.name)),
        takes_matrix_(program.solver == SolverType::automatic) {
    app_.footer(std::string(kFooter));
    subject();
    keys();
    modes();
    reports();
  }

  CLI::App& app() { return app_; }
  /// The format in which to list the keys, empty for no list.
  const std::string& keys_format() const { return keys_format_; }

  /// The values after parsing.
  CommandLine take() {
    for (auto& [key, option, words] : values_) {
      if (option->count() > 0) line_.settings.push_back({key, words});
    }
    for (const FrequencyValue& value : frequencies_) {
      if (!value.words.empty()) add_frequencies(value);
    }
    return std::move(line_);
  }

 private:
  struct KeyValue {
    const KeySpec* key;
    const CLI::Option* option;
    std::vector<std::string> words;
  };
  struct FrequencyValue {
    FrequencyOption option;
    std::vector<std::string> words;
  };

  void add_frequencies(const FrequencyValue& value) {
    for (const Setting& setting : line_.settings) {
      if (setting.key->path != value.option.key->path) continue;
      throw InvalidArgument(fmt::format("{} and {} are two ways to give {}", value.option.name,
                                        value.option.key->option, value.option.key->path));
    }
    line_.settings.push_back(setting_of(value.option, value.words));
  }

  void subject() {
    const std::string config = "YAML file that says what to solve and how; -: standard input";
    if (takes_matrix_) {
      app_.add_option("CONFIG|MATRIX", line_.subject,
                      fmt::format("{}; or a matrix: a file ({}), SuiteSparse:GROUP/NAME, or a "
                                  "structure to generate as NAME:SIZE,SIZE or NAME:SIZE:DENSITY",
                                  config, describe_formats(false)));
    } else {
      app_.add_option("CONFIG", line_.subject, config);
    }
  }

  void keys() {
    for (const KeyOption& known : key_options(program_.solver)) {
      KeyValue& value = values_.emplace_back(KeyValue{known.key, nullptr, {}});
      value.option = app_.add_option(std::string(known.key->option), value.words,
                                     fmt::format("{}: {}", known.key->path, known.key->doc))
                         ->type_size(known.words)
                         ->expected(1)
                         ->type_name(known.argument)
                         ->multi_option_policy(CLI::MultiOptionPolicy::Throw)
                         ->group("Keys of the configuration");
    }
    for (const FrequencyOption& option : frequency_options(program_.solver)) {
      FrequencyValue& value = frequencies_.emplace_back(FrequencyValue{option, {}});
      app_.add_option(std::string(option.name), value.words, std::string(option.doc))
          ->type_size(option.words)
          ->expected(1)
          ->type_name(std::string(option.argument))
          ->multi_option_policy(CLI::MultiOptionPolicy::Throw)
          ->group("Keys of the configuration");
    }
    app_.add_option("--set", line_.overrides,
                    "any key, e.g. solver.nev=20; VALUE is YAML, files in it are relative to the "
                    "current folder; may be given again, and overrides the other options")
        ->type_name("KEY=VALUE")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false)
        ->group("Keys of the configuration");
  }

  void modes() {
    app_.add_flag(
        "--validate", line_.validate,
        "check the configuration and the files it names, say what would be solved, and stop");
    app_.add_flag("--plan", line_.plan,
                  "print what was found about the problem and what would be done, with reasons and "
                  "memory, and stop; with --json as JSON");
    app_.add_flag("--print-config", line_.print_config,
                  "print the configuration with overrides and defaults as YAML, and stop");
    app_.add_flag("--help-config{text}", keys_format_,
                  "list the keys of the configuration, and stop; =markdown: those of all solvers");
    app_.add_flag("--resume", line_.resume,
                  "go on from the checkpoint.file that an earlier run of the same problem kept");
    app_.set_version_flag("--version", version_text(program_.name));
  }

  void reports() {
    app_.add_flag("--json{-}", line_.json,
                  "print the content of result.json to stdout, and the table of results to stderr; "
                  "--json=FILE: write it to FILE, too");
    app_.add_flag("--profile", line_.profile,
                  "print seconds, bytes and operations of each phase of the solve, too");
    CLI::Option* quiet = app_.add_flag("-q,--quiet", line_.quiet, "no header and no progress");
    app_.add_flag("-v,--verbose", line_.verbose,
                  "print the whole configuration, the kernel and the times of the stages, too")
        ->excludes(quiet);
  }

  const SolverProgram& program_;
  CLI::App app_;
  bool takes_matrix_;
  CommandLine line_;
  std::string keys_format_;
  // CLI11 keeps their addresses.
  std::deque<KeyValue> values_;
  std::deque<FrequencyValue> frequencies_;
};

void print_keys(const std::string& format, const SolverProgram& program) {
  if (format == "text") {
    fmt::print("{}", describe_keys(program.solver));
  } else if (format == "markdown") {
    fmt::print("{}", describe_keys_as_markdown());
  } else {
    throw InvalidArgument(fmt::format("--help-config is text or markdown, not {}; see {} --help",
                                      format, program.name));
  }
}

}  // namespace

std::optional<CommandLine> parse_command_line(int argc, const char* const* argv,
                                              const SolverProgram& program) {
  SolverOptions options(program);
  const std::string_view advice = program.solver == SolverType::automatic
                                      ? ", or say what {0} is, such as the mass matrix: --mass {0}"
                                      : ", or change keys of one configuration by --set KEY=VALUE";
  if (!parse(options.app(), with_joined_json(argc, argv), advice)) return std::nullopt;
  if (!options.keys_format().empty()) {
    print_keys(options.keys_format(), program);
    return std::nullopt;
  }
  CommandLine line = options.take();
  if (line.subject.empty()) {
    throw InvalidArgument(
        program.solver == SolverType::automatic
            ? fmt::format("a configuration or a matrix is missing; usage: {} CONFIG.yaml or {} "
                          "MATRIX.mtx [-n PAIRS ...], see {} --help",
                          program.name, program.name, program.name)
            : fmt::format("a configuration file is missing; usage: {} CONFIG.yaml "
                          "[--set KEY=VALUE ...], see {} --help",
                          program.name, program.name));
  }
  return line;
}

ProgramHelp help_of(const SolverProgram& program) {
  SolverOptions options(program);
  return describe(options.app());
}

}  // namespace heddle::apps
