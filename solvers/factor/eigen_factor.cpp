#include <fmt/format.h>

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cstdint>
#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/factor/symmetric_factor.hpp>
#include <vector>

namespace heddle::detail {
namespace {

using EigenMatrix = Eigen::SparseMatrix<double>;
using Vector = Eigen::VectorXd;

/// Bytes per entry of L, with its row.
constexpr double kBytesOfFactorEntry = sizeof(double) + sizeof(int);

class Ldl : public Eigen::SimplicialLDLT<EigenMatrix, Eigen::Upper> {
 public:
  /// Entries of L below its diagonal, known after the analysis.
  double entries() const noexcept { return m_matrix.outerIndexPtr()[m_matrix.cols()]; }
};

class EigenFactor final : public SymmetricFactor<double> {
 public:
  EigenFactor(const CsrView<double, HostSpace>& lower, double max_bytes)
      : lower_(lower), offsets_(lower.row_offsets, lower.row_offsets + lower.rows + 1) {
    const std::vector<double> ones(static_cast<std::size_t>(lower.nnz), 1.0);
    made_.analyzePattern(upper(ones.data()));
    const double entries = made_.entries();  // negative where their number exceeds the indices
    const double bytes = kBytesOfFactorEntry * entries;
    if (entries >= 0 && bytes <= max_bytes) return;
    throw OutOfMemory(static_cast<std::size_t>(std::max(bytes, 0.0)),
                      fmt::format("the factor of A - sigma B by Eigen needs more than the {:.0f} "
                                  "bytes that it may take",
                                  max_bytes));
  }

  std::optional<PivotSigns> factor(const double* lower_values) override {
    made_.factorize(upper(lower_values));
    if (made_.info() != Eigen::Success) return std::nullopt;
    const Vector D = made_.vectorD();
    if (!D.allFinite() || (D.array() == 0).any()) return std::nullopt;
    return PivotSigns{static_cast<Index>((D.array() < 0).count())};
  }

  void solve(double* X, Index columns) override {
    const auto n = static_cast<Eigen::Index>(lower_.rows);
    Eigen::Map<Eigen::MatrixXd> block(X, n, static_cast<Eigen::Index>(columns));
    block = made_.solve(block).eval();
  }

  double entries() const noexcept override { return made_.entries(); }

 private:
  /// The lower triangle by rows, read as the upper one by columns.
  Eigen::Map<const EigenMatrix> upper(const double* values) const {
    const auto n = static_cast<Eigen::Index>(lower_.rows);
    return {n, n, static_cast<Eigen::Index>(lower_.nnz), offsets_.data(), lower_.columns, values};
  }

  CsrView<double, HostSpace> lower_;
  std::vector<std::int32_t> offsets_;
  Ldl made_;
};

}  // namespace

std::unique_ptr<SymmetricFactor<double>> eigen_factor(const CsrView<double, HostSpace>& lower,
                                                      double max_bytes) {
  return std::make_unique<EigenFactor>(lower, max_bytes);
}

}  // namespace heddle::detail
