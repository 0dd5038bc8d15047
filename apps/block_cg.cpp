#include <heddle/apps/run_solver.hpp>

int main(int argc, char** argv) {
  return heddle::apps::run_solver(
      argc, argv, heddle::apps::SolverType::block_cg, "heddle-cg",
      "Solves A X = B, A symmetric positive definite, or least squares, min |b - A x|, for "
      "all columns of B at once by block conjugate gradients.");
}
