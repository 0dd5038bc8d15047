#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <heddle/apps/config/config.hpp>
#include <heddle/apps/config/json_schema.hpp>
#include <heddle/apps/config/programs.hpp>
#include <heddle/apps/front/commands.hpp>
#include <heddle/apps/front/completion.hpp>
#include <heddle/apps/front/manual.hpp>
#include <heddle/apps/programs_on_path.hpp>
#include <heddle/apps/version.hpp>
#include <iterator>

namespace heddle::apps {
namespace {

[[noreturn]] void refuse(std::string_view command, const std::vector<std::string>& arguments,
                         std::string_view usage) {
  throw InvalidArgument(fmt::format("unexpected arguments '{}'; usage: heddle {} {}",
                                    fmt::join(arguments, " "), command, usage));
}

ExitCode config(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    fmt::print("{}", describe_keys(SolverType::automatic));
  } else if (arguments == std::vector<std::string>{"--markdown"}) {
    fmt::print("{}", describe_keys_as_markdown());
  } else if (arguments == std::vector<std::string>{"--schema"}) {
    fmt::print("{}", config_json_schema());
  } else {
    refuse("config", arguments, "[--markdown|--schema]");
  }
  return ExitCode::converged;
}

ExitCode completion(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) refuse("completion", arguments, "bash|zsh");
  fmt::print("{}", completion_script(arguments.front()));
  return ExitCode::converged;
}

/// Shows a page by the program man. False if that is not there or fails.
bool show_by_man(const std::string& page) {
  std::FILE* pipe = popen("command -v man >/dev/null && exec man -l -", "w");
  if (pipe == nullptr) return false;
  std::fwrite(page.data(), 1, page.size(), pipe);
  return pclose(pipe) == 0;
}

/// The source of a page where it is not for a terminal, or where nothing can show it.
ExitCode man(const std::vector<std::string>& arguments) {
  if (arguments.size() > 1) refuse("man", arguments, "[PAGE]");
  const std::string page = manual_page(arguments.empty() ? "heddle" : arguments.front());
  if (isatty(STDOUT_FILENO) == 1 && show_by_man(page)) return ExitCode::converged;
  fmt::print("{}", page);
  return ExitCode::converged;
}

ExitCode help(const std::vector<std::string>&) {
  fmt::print("{}", overview());
  return ExitCode::converged;
}

ExitCode version(const std::vector<std::string>&) {
  fmt::print("{}\n", version_text("heddle"));
  return ExitCode::converged;
}

}  // namespace

const std::vector<Command>& own_commands() {
  static const std::vector<Command> commands = {
      {"config", "[--markdown|--schema]",
       "lists the keys of a configuration; --schema: as JSON Schema for editors", config},
      {"completion", "bash|zsh", "prints the script that completes commands, options and keys",
       completion},
      {"man", "[PAGE]", "shows a manual page; its source where the output is no terminal", man},
      {"help", "[COMMAND]", "prints this overview, or the options of a command", help},
      {"version", "", "prints the version", version},
  };
  return commands;
}

const std::vector<PackageProgram>& package_programs() {
  static const std::vector<PackageProgram> programs = {
      {"fetch", "NAME...", "fetches matrices of the SuiteSparse collection by their names"},
      {"study", "STUDY.yaml", "solves many problems by many solvers and reports on them"},
      {"plot", "RESULTS...", "draws convergence, spectra and modes of results"},
  };
  return programs;
}

std::string overview() {
  std::string text =
      "usage: heddle COMMAND [ARGUMENT...]\n\n"
      "Eigenpairs and linear systems of large sparse symmetric matrices.\n\n"
      "  heddle solve K.mtx --mass M.mtx -n 10      the ten smallest eigenpairs of a pencil\n"
      "  heddle solve K.mtx --buckling KG.mtx -n 5  the five smallest positive load factors\n"
      "  heddle solve CONFIG.yaml                   what a configuration asks for\n"
      "  heddle info K.mtx                          what a matrix is like\n\n"
      "commands:\n";
  const auto line = [&text](std::string_view name, std::string_view summary) {
    fmt::format_to(std::back_inserter(text), "  {:<12}{}\n", name, summary);
  };
  line("solve", "finds eigenpairs, singular triplets or solutions of linear systems");
  line("plan", "says what solve would do with the same arguments, why, and in how much memory");
  line("info", "says what a sparse matrix is like, and where its eigenvalues lie");
  line("spgemm", "multiplies sparse matrices");
  line("spmm", "multiplies a sparse matrix by a block");
  for (const PackageProgram& program : package_programs()) line(program.name, program.summary);
  for (const Command& command : own_commands()) line(command.name, command.summary);
  line("NAME", "runs the program heddle-NAME, from the folder of heddle or the path");
  fmt::format_to(std::back_inserter(text),
                 "\nfetch, study and plot belong to heddle's Python package.\n"
                 "programs heddle-NAME that are there: {}\n",
                 fmt::join(program_names(), ", "));
  return text;
}

}  // namespace heddle::apps
