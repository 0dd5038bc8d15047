#pragma once

#include <heddle/apps/config/config.hpp>
#include <string_view>

namespace heddle::apps {

/// The main function of a solver's executable `name`: command line, configuration, problem, solve,
/// results. Returns the exit code of the process. Errors are reported in one line on stderr.
int run_solver(int argc, const char* const* argv, SolverType solver, std::string_view name,
               std::string_view description);

}  // namespace heddle::apps
