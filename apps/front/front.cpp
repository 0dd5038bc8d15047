#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <heddle/apps/front/commands.hpp>
#include <heddle/apps/front/front.hpp>
#include <heddle/apps/programs_on_path.hpp>
#include <heddle/apps/run_solver.hpp>
#include <heddle/linalg/base/nearest_name.hpp>
#include <system_error>
#include <utility>

namespace heddle::apps {
namespace {

constexpr std::string_view kName = "heddle";
constexpr std::string_view kSolve = "solve";
constexpr std::string_view kPlan = "plan";  // heddle solve --plan

/// Replaces the process by `program`.
[[noreturn]] void execute(const std::filesystem::path& program,
                          std::vector<std::string> arguments) {
  std::string name = program.string();
  std::vector<char*> words = {name.data()};
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  throw InputError(program.string(), 0, "cannot be run: " + std::generic_category().message(errno));
}

/// The names of all commands, each once.
std::vector<std::string> all_names() {
  std::vector<std::string> names = {std::string(kSolve), std::string(kPlan)};
  for (const Command& command : own_commands()) names.emplace_back(command.name);
  for (const PackageProgram& program : package_programs()) names.emplace_back(program.name);
  for (std::string& program : program_names()) {
    const bool is_known = std::find(names.begin(), names.end(), program) != names.end();
    if (!is_known) names.push_back(std::move(program));
  }
  return names;
}

[[noreturn]] void refuse(const std::string& word) {
  std::error_code no_such_file;
  if (std::filesystem::exists(word, no_such_file) || word == "-") {
    throw InvalidArgument(
        fmt::format("'{}' stands where a command is expected; run heddle solve "
                    "{} to solve it, heddle info {} to inspect a matrix",
                    word, word, word));
  }
  for (const PackageProgram& program : package_programs()) {
    if (word != program.name) continue;
    throw InvalidArgument(
        fmt::format("heddle {} belongs to heddle's Python package, and heddle-{} is neither beside "
                    "heddle nor on the path; run pip install '.[study]' in the folder of heddle's "
                    "sources",
                    word, word));
  }
  const std::vector<std::string> names = all_names();
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view near = nearest_name(word, views);
  throw InvalidArgument(fmt::format("'{}' is no command of heddle{}; commands: {}", word,
                                    near.empty() ? "" : fmt::format(" (did you mean {}?)", near),
                                    fmt::join(views, ", ")));
}

/// The command that an option in its place stands for.
std::string command_of(const std::string& word) {
  if (word == "-h" || word == "--help") return "help";
  return word == "--version" ? "version" : word;
}

/// Runs the command `words[0]`. Does not return if it is another program.
ExitCode run_command(const std::vector<std::string>& words) {
  const std::vector<std::string> arguments(words.begin() + 1, words.end());
  for (const Command& command : own_commands()) {
    if (command.name != words.front()) continue;
    const bool asks_for_help = arguments.size() == 1 && command_of(arguments.front()) == "help";
    if (!asks_for_help) return command.run(arguments);
    fmt::print("usage: heddle {} {}\n\n{}\n", command.name, command.usage, command.summary);
    return ExitCode::converged;
  }
  if (const auto program = find_program(words.front())) execute(*program, arguments);
  refuse(words.front());
}

}  // namespace

int run_front(int argc, const char* const* argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty()) words.front() = command_of(words.front());
  const bool names_command = words.size() == 2 && command_of(words.back()) != "help";
  if (names_command && words.front() == "help") words = {words.back(), "--help"};
  if (!words.empty() && words.front() == kPlan) {
    words.front() = kSolve;
    words.emplace_back("--plan");
  }
  if (!words.empty() && words.front() == kSolve) {
    std::vector<const char*> arguments = {argc > 0 ? argv[0] : kName.data()};
    for (const std::string& word : words) arguments.push_back(word.c_str());
    return run_solver(static_cast<int>(arguments.size()), arguments.data(),
                      program_of(SolverType::automatic));
  }
  return run_reporting_failures(kName, [&words] {
    if (!words.empty()) return run_command(words);
    fmt::print(stderr, "{}", overview());
    throw InvalidArgument("a command is missing");
  });
}

}  // namespace heddle::apps
