#include <fmt/format.h>

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <complex>
#include <cstdint>
#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/factor/symmetric_factor.hpp>
#include <vector>

namespace heddle::detail {
namespace {

/// Bytes per entry of L, with its row.
template <class S>
constexpr double kBytesOfFactorEntry = sizeof(S) + sizeof(int);

/// L D Lᴴ of a matrix of S, whose lower triangle is given by rows with conjugate values: the upper
/// one by columns.
template <class S>
class Ldl : public Eigen::SimplicialLDLT<Eigen::SparseMatrix<S>, Eigen::Upper> {
 public:
  /// Analyses a pattern. Throws `OutOfMemory` if L takes more than `max_bytes`.
  void order(const Eigen::Map<const Eigen::SparseMatrix<S>>& upper, double max_bytes) {
    this->analyzePattern(upper);
    const double bytes = kBytesOfFactorEntry<S> * entries();
    if (entries() >= 0 && bytes <= max_bytes) return;
    throw OutOfMemory(static_cast<std::size_t>(std::max(bytes, 0.0)),
                      fmt::format("the factor of A - sigma B by Eigen needs more than the {:.0f} "
                                  "bytes that it may take",
                                  max_bytes));
  }

  /// Nothing if a pivot is 0 or no number.
  std::optional<Index> negative_pivots(const Eigen::Map<const Eigen::SparseMatrix<S>>& upper) {
    this->factorize(upper);
    if (this->info() != Eigen::Success) return std::nullopt;
    const Eigen::VectorXd D = this->vectorD().real();
    if (!D.allFinite() || (D.array() == 0).any()) return std::nullopt;
    return static_cast<Index>((D.array() < 0).count());
  }

  void solve_in_place(S* X, Index rows, Index columns) const {
    using Block = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>;
    Eigen::Map<Block> block(X, static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
    block = this->solve(block).eval();
  }

  /// Entries of L below its diagonal, known after the analysis. Negative where their number exceeds
  /// the indices.
  double entries() const noexcept { return this->m_matrix.outerIndexPtr()[this->m_matrix.cols()]; }
};

/// A triangle with offsets of 32 bits.
template <class S>
Eigen::Map<const Eigen::SparseMatrix<S>> triangle(const std::vector<std::int32_t>& offsets,
                                                  const std::int32_t* columns, const S* values) {
  const auto n = static_cast<Eigen::Index>(offsets.size()) - 1;
  return {n, n, offsets.back(), offsets.data(), columns, values};
}

class EigenFactor final : public SymmetricFactor<double> {
 public:
  EigenFactor(const CsrView<double, HostSpace>& lower, double max_bytes)
      : lower_(lower), offsets_(lower.row_offsets, lower.row_offsets + lower.rows + 1) {
    const std::vector<double> ones(static_cast<std::size_t>(lower.nnz), 1.0);
    made_.order(triangle(offsets_, lower_.columns, ones.data()), max_bytes);
  }

  std::optional<PivotSigns> factor(const double* lower_values) override {
    const auto negative = made_.negative_pivots(triangle(offsets_, lower_.columns, lower_values));
    return negative ? std::optional(PivotSigns{*negative}) : std::nullopt;
  }

  void solve(double* X, Index columns) override { made_.solve_in_place(X, lower_.rows, columns); }

  double entries() const noexcept override { return made_.entries(); }

 private:
  CsrView<double, HostSpace> lower_;
  std::vector<std::int32_t> offsets_;
  Ldl<double> made_;
};

/// A complex factor, of the matrix whose real form is given. Row 2i + 1 of that has the imaginary
/// parts of row i in even columns, and the real ones in odd columns. A block of its columns holds
/// the parts of complex numbers one behind the other.
class EigenHermitianFactor final : public SymmetricFactor<double> {
 public:
  EigenHermitianFactor(const CsrView<double, HostSpace>& lower, double max_bytes)
      : lower_(lower), offsets_{0} {
    for (Index i = 0; i < lower.rows / 2; ++i) {
      for_each_part(i, [&](Index k) {
        const std::int32_t column = lower.columns[k] / 2;
        const bool begins = std::ssize(columns_) == offsets_.back() || columns_.back() != column;
        if (begins) columns_.push_back(column);
      });
      offsets_.push_back(static_cast<std::int32_t>(columns_.size()));
    }
    values_.assign(columns_.size(), 1.0);
    made_.order(triangle(offsets_, columns_.data(), values_.data()), max_bytes);
  }

  std::optional<PivotSigns> factor(const double* lower_values) override {
    std::fill(values_.begin(), values_.end(), 0.0);
    for (Index i = 0; i < lower_.rows / 2; ++i) {
      auto place = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(i)]);
      for_each_part(i, [&](Index k) {
        while (columns_[place] != lower_.columns[k] / 2) ++place;
        if (lower_.columns[k] % 2 == 1) {
          values_[place].real(lower_values[k]);
        } else {
          values_[place].imag(-lower_values[k]);
        }
      });
    }
    const auto negative =
        made_.negative_pivots(triangle(offsets_, columns_.data(), values_.data()));
    return negative ? std::optional(PivotSigns{2 * *negative}) : std::nullopt;
  }

  void solve(double* X, Index columns) override {
    made_.solve_in_place(reinterpret_cast<std::complex<double>*>(X), lower_.rows / 2, columns);
  }

  double entries() const noexcept override { return made_.entries(); }

 private:
  /// Calls visit(k) for the entries k of the real form that belong to row i.
  template <class Visit>
  void for_each_part(Index i, const Visit& visit) const {
    for (auto k = lower_.row_offsets[2 * i + 1]; k < lower_.row_offsets[2 * i + 2]; ++k) visit(k);
  }

  CsrView<double, HostSpace> lower_;  // the real form
  std::vector<std::int32_t> offsets_, columns_;
  std::vector<std::complex<double>> values_;
  Ldl<std::complex<double>> made_;
};

}  // namespace

std::unique_ptr<SymmetricFactor<double>> eigen_factor(const CsrView<double, HostSpace>& lower,
                                                      double max_bytes) {
  return std::make_unique<EigenFactor>(lower, max_bytes);
}

std::unique_ptr<SymmetricFactor<double>> eigen_hermitian_factor(
    const CsrView<double, HostSpace>& lower, double max_bytes) {
  return std::make_unique<EigenHermitianFactor>(lower, max_bytes);
}

}  // namespace heddle::detail
