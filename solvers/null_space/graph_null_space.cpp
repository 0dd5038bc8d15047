#include <algorithm>
#include <atomic>
#include <cmath>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/null_space/graph_null_space.hpp>
#include <heddle/solvers/null_space/null_space_rounding.hpp>
#include <limits>

namespace heddle {
namespace {

using detail::Dominance;

/// Rounding errors, in ε, that ‖A z‖ of a null vector may have relative to ‖A‖₁.
constexpr double kRoundingOfVector = 5;

/// The state of a row: it is in a null vector number ≥ 0, in no null vector, or not visited.
constexpr std::int32_t kRegular = -1;
constexpr std::int32_t kUnknown = -2;

/// The search for null vectors in A with the given sizes d.
template <Scalar T>
class Search {
 public:
  Search(HostContext& context, const CsrView<T, HostSpace>& A, std::span<const double> sizes)
      : context_(context), A_(A), sizes_(sizes) {}

  GraphNullSpace run(Index most) {
    GraphNullSpace found;
    if (!classify_rows()) return found;
    entries_.resize(static_cast<std::size_t>(A_.rows));
    Index row = 0;
    for (; row < A_.rows && found.dimension < most; ++row) {
      if (vector_[index(row)] != kUnknown) continue;
      const auto number = static_cast<std::int32_t>(found.dimension);
      if (visit_component(row, number)) ++found.dimension;
    }
    found.complete = row == A_.rows;
    if (found.dimension == 0) return found;
    for (std::int32_t& each : vector_) each = std::max(each, kRegular);
    found.vector = std::move(vector_);
    found.entries = std::move(entries_);
    return found;
  }

 private:
  static std::size_t index(Index i) noexcept { return static_cast<std::size_t>(i); }

  double size(Index row) const noexcept { return sizes_.empty() ? 1 : sizes_[index(row)]; }

  /// The two sides of (1) and the sum of the absolute values of a row.
  struct RowSums {
    double diagonal = 0;
    double others = 0;
    double absolute = 0;
  };

  RowSums sums(Index row) const noexcept {
    RowSums sum;
    for (Index k = A_.row_offsets[row]; k < A_.row_offsets[row + 1]; ++k) {
      const auto value = static_cast<double>(A_.values[k]);
      const Index col = A_.columns[k];
      sum.absolute += std::abs(value);
      if (col == row) {
        sum.diagonal += value * size(row);
      } else {
        sum.others += std::abs(value) * size(col);
      }
    }
    return sum;
  }

  /// Determines in which rows (1) holds with equality. False if it is violated, or if there is no
  /// such row.
  bool classify_rows() {
    vector_.assign(index(A_.rows), kRegular);
    std::vector<double> largest(index(A_.rows));
    std::atomic<bool> violated = false;
    parallel_for(context_.threads(), A_.rows, [&](Index row) {
      if (violated.load(std::memory_order_relaxed)) return;
      const RowSums sum = sums(row);
      const auto entries = static_cast<double>(A_.row_offsets[row + 1] - A_.row_offsets[row]);
      const Dominance found = detail::dominance<T>(sum.diagonal, sum.others, entries);
      if (found == Dominance::violated || !std::isfinite(sum.absolute)) violated = true;
      if (found == Dominance::equal) vector_[index(row)] = kUnknown;
      largest[index(row)] = sum.absolute;
    });
    if (violated) return false;
    norm_ = A_.rows > 0 ? *std::max_element(largest.begin(), largest.end()) : 0;
    return std::find(vector_.begin(), vector_.end(), kUnknown) != vector_.end();
  }

  /// Visits the component of `row` until it turns out regular, or has been visited altogether.
  /// Whether it has a null vector, which then has this number. All rows visited in a regular
  /// component are marked as such, so that later visits of the component end there.
  bool visit_component(Index row, std::int32_t number) {
    visited_.clear();
    const auto add = [&](Index next, double sign) {
      vector_[index(next)] = number;
      entries_[index(next)] = sign * size(next);
      visited_.push_back(static_cast<std::int32_t>(next));
    };
    add(row, 1);
    bool singular = true;
    double square = 0;     // ‖z‖²
    double residuals = 0;  // ‖A z‖²
    for (std::size_t done = 0; done < visited_.size() && singular; ++done) {
      const Index i = visited_[done];
      double residual = 0;
      for (Index k = A_.row_offsets[i]; k < A_.row_offsets[i + 1] && singular; ++k) {
        const auto value = static_cast<double>(A_.values[k]);
        const Index j = A_.columns[k];
        if (value == 0) continue;
        if (vector_[index(j)] == kUnknown) {
          const double opposite = (value > 0) == (entries_[index(i)] > 0) ? -1 : 1;
          add(j, opposite);
        }
        singular = vector_[index(j)] == number &&
                   (i == j || value * entries_[index(i)] * entries_[index(j)] < 0);
        residual += value * entries_[index(j)];
      }
      square += entries_[index(i)] * entries_[index(i)];
      residuals += residual * residual;
    }
    const double allowed = kRoundingOfVector * kEpsilon * norm_;
    if (singular && residuals <= allowed * allowed * square) return true;
    for (const std::int32_t i : visited_) {
      vector_[index(i)] = kRegular;
      entries_[index(i)] = 0;
    }
    return false;
  }

  static constexpr double kEpsilon = static_cast<double>(std::numeric_limits<T>::epsilon());

  HostContext& context_;
  CsrView<T, HostSpace> A_;
  std::span<const double> sizes_;
  double norm_ = 0;                   // ‖A‖₁
  std::vector<std::int32_t> vector_;  // of each row
  std::vector<double> entries_;       // s_i d_i
  std::vector<std::int32_t> visited_;
};

/// The square roots of the numbers of entries off the diagonal. Empty if a diagonal entry is not
/// 1 to rounding in a row that has such entries.
template <Scalar T>
std::vector<double> roots_of_degrees(const CsrView<T, HostSpace>& A) {
  std::vector<double> roots(static_cast<std::size_t>(A.rows), 1);
  for (Index row = 0; row < A.rows; ++row) {
    Index degree = 0;
    double diagonal = 0;
    for (Index k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
      if (A.columns[k] == row) {
        diagonal += static_cast<double>(A.values[k]);
      } else {
        degree += A.values[k] != T{0};
      }
    }
    if (degree == 0) continue;
    if (!detail::is_unit<T>(diagonal)) return {};
    roots[static_cast<std::size_t>(row)] = std::sqrt(static_cast<double>(degree));
  }
  return roots;
}

}  // namespace

template <Scalar T>
GraphNullSpace graph_null_space(HostContext& context, CsrView<T, HostSpace> A, Index most,
                                std::span<const double> sizes) {
  GraphNullSpace found = Search<T>(context, A, sizes).run(most);
  if (found.dimension > 0 || !sizes.empty()) return found;
  const std::vector<double> roots = roots_of_degrees(A);
  return roots.empty() ? found : Search<T>(context, A, roots).run(most);
}

#define HEDDLE_INSTANTIATE(T)                                                          \
  template GraphNullSpace graph_null_space(HostContext&, CsrView<T, HostSpace>, Index, \
                                           std::span<const double>);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
