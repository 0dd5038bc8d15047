#pragma once

#include <heddle/apps/config/config.hpp>
#include <string_view>
#include <vector>

namespace heddle::apps {

/// A program that solves what a configuration describes.
struct SolverProgram {
  /// The solver that it runs. `automatic`: it runs any.
  SolverType solver;
  std::string_view name;         ///< as typed on the command line
  std::string_view description;  ///< a sentence
};

/// All of them: `heddle solve` first, then one for each method.
const std::vector<SolverProgram>& solver_programs();

/// The program for `solver`.
const SolverProgram& program_of(SolverType solver);

}  // namespace heddle::apps
