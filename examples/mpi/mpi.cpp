// Several processes that solve one problem together: mpirun -n 2 ./mpi. Process 0 has the problem
// and gets the solution, the others serve it. Started alone, the program solves by itself.
#include <cmath>
#include <cstdio>
#include <exception>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/context/processes.hpp>
#include <memory>
#include <numbers>

namespace {

constexpr heddle::Index kGrid = 40;

int solve_as_leader(const std::shared_ptr<heddle::Processes>& processes) {
  heddle::Device device(heddle::DeviceChoice::host, 0, processes);
  const heddle::Problem problem{
      .A = heddle::Matrix::generate({.name = "laplace2d", .size = {kGrid, kGrid}})};
  const heddle::Solution solution = heddle::solve(device, problem, {.nev = 1});
  const double sine = std::sin(std::numbers::pi / (2 * (kGrid + 1)));
  const double error = std::abs(solution.eigenvalues.at(0) - 8 * sine * sine);
  std::printf("%d processes: %.14f ± %.1e, error %.1e\n", processes ? processes->size() : 1,
              solution.eigenvalues[0], solution.error_bounds[0], error);
  return error <= solution.error_bounds[0] ? 0 : 1;
}

}  // namespace

int main() {
  const std::shared_ptr<heddle::Processes> processes = heddle::started_processes();  // or null
  try {
    if (processes && !processes->leads()) return heddle::serve(processes);
    const int code = solve_as_leader(processes);
    if (processes) heddle::dismiss(*processes, code);
    return code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    if (processes) processes->abort(1);  // the other processes wait
    return 1;
  }
}
