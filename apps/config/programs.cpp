#include <algorithm>
#include <heddle/apps/config/programs.hpp>

namespace heddle::apps {

const std::vector<SolverProgram>& solver_programs() {
  static const std::vector<SolverProgram> programs = {
      {SolverType::automatic, "heddle solve",
       "Finds eigenpairs of A x = lambda B x, singular triplets of A, or solutions of A X = B, by "
       "the method that solver.type names or that suits the problem."},
      {SolverType::lobpcg, "heddle-lobpcg",
       "Finds some of the smallest or largest eigenpairs of A x = lambda B x, A symmetric and B "
       "symmetric positive definite, by LOBPCG."},
      {SolverType::block_lanczos, "heddle-lanczos",
       "Finds some of the smallest or largest eigenpairs of A x = lambda B x, A symmetric and B "
       "symmetric positive definite, by block Lanczos with thick restart."},
      {SolverType::block_cg, "heddle-cg",
       "Solves A X = B, A symmetric positive definite, or least squares, min |b - A x|, for all "
       "columns of B at once by block conjugate gradients."},
  };
  return programs;
}

const SolverProgram& program_of(SolverType solver) {
  const std::vector<SolverProgram>& programs = solver_programs();
  return *std::find_if(programs.begin(), programs.end(),
                       [solver](const SolverProgram& program) { return program.solver == solver; });
}

}  // namespace heddle::apps
