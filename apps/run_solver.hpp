#pragma once

#include <heddle/apps/config/programs.hpp>

namespace heddle::apps {

/// The main function of `program`, with whose name `argv` begins, a word per entry: command line,
/// configuration, problem, solve, results. Returns the exit code of the process. Errors are
/// reported in one line on stderr.
int run_solver(int argc, const char* const* argv, const SolverProgram& program);

}  // namespace heddle::apps
