#include <heddle/apps/run_solver.hpp>

int main(int argc, char** argv) {
  using namespace heddle::apps;
  return run_solver(argc, argv, program_of(SolverType::lobpcg));
}
