#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <string>

#include "support/matrix_dir.hpp"

namespace heddle {
namespace {

/// The Laplacian of a file by scipy.sparse.csgraph.laplacian (SciPy 1.10): trace, Σ l_ij², and
/// Σ l_ij √j/i for rows and columns counted from 1.
struct Laplacian {
  std::string file;
  LaplacianKind kind;
  double trace;
  double squares;
  double product;
};

TEST(GraphLaplacianData, WeightedGraphsAreAsScipyHasThem) {
  const auto folder = test::matrix_dir();
  if (!folder) GTEST_SKIP() << "no matrix folder";
  const auto combinatorial = LaplacianKind::combinatorial;
  const auto normalized = LaplacianKind::normalized;
  const std::vector<Laplacian> laplacians = {
      {"USAir97.mtx", combinatorial, 306.77279999999996, 1431.9544769799998, -6.603932527609047},
      {"USAir97.mtx", normalized, 332, 347.62776473197, 13.791846767640006},
      {"jazz.mtx", combinatorial, 10968, 869568, -1130.2033375738592},
      {"jazz.mtx", normalized, 198, 207.09804689223114, -18.2393341332492},
      {"Journals.mtx", combinatorial, 1307720, 66102821580, -981174.1103413263},
      {"Journals.mtx", normalized, 124, 125.49174689800068, -22.932715884137874}};
  HostContext context(2);
  for (const Laplacian& expected : laplacians) {
    const auto A = read_matrix_market<double>(context, *folder / expected.file);
    const auto laplacian = graph_laplacian(context, A.view(), {.kind = expected.kind});
    const CsrView<double, HostSpace> L = laplacian.view();
    double trace = 0;
    double squares = 0;
    double product = 0;
    double size = 0;
    for (Index i = 0; i < L.rows; ++i) {
      for (Index k = L.row_offsets[i]; k < L.row_offsets[i + 1]; ++k) {
        const double term =
            L.values[k] * std::sqrt(1.0 + L.columns[k]) / (1.0 + static_cast<double>(i));
        if (L.columns[k] == i) trace += L.values[k];
        squares += L.values[k] * L.values[k];
        product += term;
        size += std::abs(term);
      }
    }
    EXPECT_NEAR(trace, expected.trace, 1e-13 * expected.trace) << expected.file;
    EXPECT_NEAR(squares, expected.squares, 1e-13 * expected.squares) << expected.file;
    EXPECT_NEAR(product, expected.product, 1e-13 * size) << expected.file;
  }
}

}  // namespace
}  // namespace heddle
