// Block CG beside CG on each column (`pseudo_block`), both with products for all columns at once:
// passes over the matrix and seconds to 1e-8 with each preconditioner.
//
// usage: block_cg_bench MATRIX... [--columns B]     MATRIX: a Matrix Market file, or hexN for the
//                                                   gallery's elasticity3d on N³ cells

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/table.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {
namespace {

constexpr std::string_view kPreconditioners[] = {"none", "jacobi", "chebyshev", "block_jacobi",
                                                 "incomplete_cholesky"};

HostCsrMatrix<double> load(HostContext& context, const std::string& name) {
  if (name.rfind("hex", 0) == 0) {
    const Index cells = std::atoll(name.c_str() + 3);
    return generate<double>(context, {"elasticity3d", {cells, cells, cells}});
  }
  return read_matrix_market<double>(context, name);
}

struct Outcome {
  LinearResult<double, HostSpace> result;
  double seconds = 0;
};

Outcome solve(HostContext& context, const LinearSystem<double, HostContext>& system,
              CgAlgorithm algorithm) {
  BlockCgOptions options;
  options.algorithm = algorithm;
  options.max_iterations = 20000;
  const auto begin = Clock::now();
  Outcome outcome{block_cg(context, system, options)};
  outcome.seconds = seconds_since(begin);
  return outcome;
}

std::string describe(const Outcome& outcome) {
  const auto& residuals = outcome.result.residuals;
  return fmt::format("{:>7} {:>9.1e} {:>8.2f} {:<14}", outcome.result.matrix_passes,
                     *std::max_element(residuals.begin(), residuals.end()), outcome.seconds,
                     status_name(outcome.result.status));
}

void compare(HostContext& context, const std::string& name, Index columns) {
  SparseOperator<double, HostContext> A(context, load(context, name));
  MultiVector<double, HostSpace> B(context, A.rows(), columns);
  fill_random(context, 42, 0, B.view());
  for (const std::string_view preconditioner : kPreconditioners) {
    const auto begin = Clock::now();
    std::unique_ptr<Preconditioner<double, HostContext>> M;
    if (preconditioner != "none") {
      M = make_preconditioner<double>(context, preconditioner, A.matrix());
    }
    const double setup = seconds_since(begin);
    const LinearSystem<double, HostContext> system{&A, M.get(), B.view()};
    const Outcome block = solve(context, system, CgAlgorithm::breakdown_free);
    const Outcome pseudo = solve(context, system, CgAlgorithm::pseudo_block);
    fmt::print("{:<16} {:<19} {:>7.2f} | {} | {}\n", std::filesystem::path(name).stem().string(),
               preconditioner, setup, describe(block), describe(pseudo));
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  using namespace heddle;
  std::vector<std::string> names;
  Index columns = 16;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--columns" && i + 1 < argc) {
      columns = std::atoll(argv[++i]);
    } else {
      names.emplace_back(argv[i]);
    }
  }
  HostContext context;
  fmt::print("{} right-hand sides, {} threads\n", columns, context.threads());
  fmt::print("{:<16} {:<19} {:>7} | {:>7} {:>9} {:>8} {:<14} | {:>7} {:>9} {:>8} pseudo-block\n",
             "matrix", "preconditioner", "setup s", "passes", "residual", "s", "block", "passes",
             "residual", "s");
  for (const std::string& name : names) compare(context, name, columns);
}
