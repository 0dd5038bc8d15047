// Products of a sparse matrix with blocks, without a solver: a plan inspects the matrix once and
// multiplies any number of blocks of eight columns.
#include <cmath>
#include <cstdio>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/spmm/spmm.hpp>

int main() {
  heddle::HostContext context;
  const auto A = heddle::generate<double>(context, {.name = "laplace2d", .size = {300, 200}});
  const heddle::SpmmPlan<double, heddle::HostContext> plan(context, A.view());

  heddle::MultiVector<double, heddle::HostSpace> X(context, A.cols(), 8);
  heddle::MultiVector<double, heddle::HostSpace> Y(context, A.rows(), 8);
  for (heddle::Index i = 0; i < X.rows(); ++i) {
    for (heddle::Index j = 0; j < X.cols(); ++j) X.view()(i, j) = double(i % 7 + j);
  }
  plan.multiply(context, 1.0, X.view(), 0.0, Y.view());  // Y = 1 A X + 0 Y
  std::printf("%s\n", plan.reason(8).c_str());

  // The same, entry by entry.
  const auto rows = A.view();
  double error = 0;
  for (heddle::Index i = 0; i < A.rows(); ++i) {
    for (heddle::Index j = 0; j < 8; ++j) {
      double sum = 0;
      for (std::int64_t k = rows.row_offsets[i]; k < rows.row_offsets[i + 1]; ++k) {
        sum += rows.values[k] * X.view()(rows.columns[k], j);
      }
      error = std::fmax(error, std::abs(Y.view()(i, j) - sum));
    }
  }
  std::printf("largest difference: %.1e\n", error);
  return error < 1e-12 ? 0 : 1;
}
