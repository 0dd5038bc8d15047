#include <heddle/apps/run_solver.hpp>

int main(int argc, char** argv) {
  return heddle::apps::run_solver(
      argc, argv, heddle::apps::SolverType::lobpcg, "heddle-lobpcg",
      "Finds some of the smallest or largest eigenpairs of A x = lambda B x, A symmetric and B "
      "symmetric positive definite, by LOBPCG.");
}
