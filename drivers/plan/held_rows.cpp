#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/drivers/plan/held_rows.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/complex_ops.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <limits>
#include <span>
#include <utility>
#include <variant>

namespace heddle::detail {
namespace {

/// The least ‖b_H‖/‖b'‖ of a column that held rows dominate.
constexpr double kDominates = 10;
/// Each step of the iteration for x̂_H leaves at most 1/`kHold` of its error.
constexpr int kSteps = 17;

template <WideScalar W>
using View = CsrView<W, HostSpace>;

/// Calls take(j, a_ij) for the entries of row i.
template <WideScalar W, class Take>
void for_row(const View<W>& A, Index i, const Take& take) {
  for (std::int64_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
    take(Index{A.columns[k]}, A.values[k]);
  }
}

/// The diagonal of A, with a negative sign for rows that cannot be held: their entry is not large
/// relative to the rest of the row.
template <WideScalar W>
std::vector<double> signed_diagonal(HostContext& context, const View<W>& A) {
  std::vector<double> diagonal(static_cast<std::size_t>(A.rows));
  const double bytes = (4.0 + sizeof(W)) * static_cast<double>(A.nnz);
  parallel_for(team_size(context.threads(), bytes, 0), A.rows, [&](Index i) {
    double own = 0, others = 0;
    for_row(A, i, [&](Index j, W a) { (j == i ? own : others) += std::abs(a); });
    diagonal[static_cast<std::size_t>(i)] = own > 0 && own >= kHold * others ? own : -own;
  });
  return diagonal;
}

/// Marks as not held the rows with a neighbour of F whose diagonal entry is not small relative to
/// theirs, until there is none.
template <WideScalar W>
void leave_out_like_neighbours(const View<W>& A, std::vector<double>& diagonal) {
  std::vector<Index> others;  // rows of F whose neighbours are to be looked at
  for (Index i = 0; i < A.rows; ++i) {
    if (!(diagonal[static_cast<std::size_t>(i)] > 0)) others.push_back(i);
  }
  while (!others.empty()) {
    const Index j = others.back();
    others.pop_back();
    const double most = -diagonal[static_cast<std::size_t>(j)];
    for_row(A, j, [&](Index i, W a) {
      double& own = diagonal[static_cast<std::size_t>(i)];
      if (a == W{} || !(own > 0) || own >= kHold * most) return;
      own = -own;
      others.push_back(i);
    });
  }
}

/// x_H ← A_HH⁻¹(b_H − A_HF x_F) by Jacobi's method. `diagonal`: that of A, positive in the held
/// rows.
template <WideScalar W>
void solve_held(const View<W>& A, std::span<const double> diagonal, std::span<const Index> rows,
                const std::vector<W>& b, std::vector<W>& x) {
  std::vector<W> next(rows.size());
  for (int step = 0; step < kSteps; ++step) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const Index i = rows[k];
      W rest = b[static_cast<std::size_t>(i)];
      for_row(A, i, [&](Index j, W a) {
        if (j != i) rest -= product(a, x[static_cast<std::size_t>(j)]);
      });
      next[k] = rest / diagonal[static_cast<std::size_t>(i)];
    }
    for (std::size_t k = 0; k < rows.size(); ++k) x[static_cast<std::size_t>(rows[k])] = next[k];
  }
}

/// b ← b', from x̂.
template <WideScalar W>
void drive_others(const View<W>& A, std::span<const double> diagonal, std::span<const Index> rows,
                  const std::vector<W>& x, std::vector<W>& b) {
  for (const Index i : rows) {
    const W value = x[static_cast<std::size_t>(i)];
    for_row(A, i, [&](Index j, W a) {  // a_ji is the conjugate of a_ij
      if (diagonal[static_cast<std::size_t>(j)] > 0) return;
      b[static_cast<std::size_t>(j)] -= product(conjugate(a), value);
    });
  }
  for (const Index i : rows) b[static_cast<std::size_t>(i)] = W{};
}

template <WideScalar W>
double norm_of(const std::vector<W>& x) {
  double norm = 0;
  for (const W value : x) norm = std::hypot(norm, std::abs(value));
  return norm;
}

template <WideScalar W>
MultiVector<W, HostSpace> copy_of(HostContext& context, ConstBlockView<W, HostSpace> X) {
  MultiVector<W, HostSpace> result(context, X.rows(), X.cols());
  copy<W>(context, X, result.view());
  return result;
}

/// The exponents of S for `rows`, whose diagonal entries become about as large as `size`.
std::vector<int> exponents_for(std::span<const double> diagonal, std::span<const Index> rows,
                               double size) {
  std::vector<int> exponents;
  for (const Index i : rows) {
    const int ratio = std::ilogb(diagonal[static_cast<std::size_t>(i)]) - std::ilogb(size);
    exponents.push_back(-ratio / 2);
  }
  return exponents;
}

/// S A S.
template <WideScalar W>
HostMatrix<W> scaled(HostContext& context, const View<W>& A, std::span<const Index> rows,
                     std::span<const int> exponents) {
  std::vector<int> of_row(static_cast<std::size_t>(A.rows), 0);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    of_row[static_cast<std::size_t>(rows[k])] = exponents[k];
  }
  HostCsrMatrix<W> result = convert<W>(context, A);
  const double bytes = (8.0 + 2 * sizeof(W)) * static_cast<double>(A.nnz);
  parallel_for(team_size(context.threads(), bytes, 0), A.rows, [&](Index i) {
    for (std::int64_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
      const int exponent =
          of_row[static_cast<std::size_t>(i)] + of_row[static_cast<std::size_t>(A.columns[k])];
      W& value = result.values()[k];
      if (exponent != 0) value = times_power_of_two(value, exponent);
    }
  });
  return HostMatrix<W>(std::move(result));
}

/// S⁻¹ M⁻¹ S⁻¹ for a preconditioner M⁻¹ of A, which is one of S A S.
template <WideScalar W>
HostMatrix<W> scaled_preconditioner(HostContext& context, const HostMatrix<W>& M,
                                    std::vector<Index> rows, std::vector<int> exponents) {
  for (int& exponent : exponents) exponent = -exponent;
  if (M.is_stored()) return scaled<W>(context, M.view(), rows, exponents);
  const auto scale_rows = [rows, exponents](BlockView<W, HostSpace> X) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      for (Index j = 0; j < X.cols(); ++j) {
        X(rows[k], j) = times_power_of_two(X(rows[k], j), exponents[k]);
      }
    }
  };
  return {
      M.rows(), M.cols(),
      [apply = M.apply(), scale_rows](ConstBlockView<W, HostSpace> X, BlockView<W, HostSpace> Y) {
        std::vector<W> copy(static_cast<std::size_t>(X.rows() * X.cols()));
        const BlockView<W, HostSpace> Z(copy.data(), X.rows(), X.cols(), X.cols());
        for (Index i = 0; i < X.rows(); ++i) {
          for (Index j = 0; j < X.cols(); ++j) Z(i, j) = X(i, j);
        }
        scale_rows(Z);
        apply(Z, Y);
        scale_rows(Y);
      }};
}

/// A copy of column j.
template <Scalar T>
std::vector<Wide<T>> column_of(ConstBlockView<T, HostSpace> X, Index j) {
  std::vector<Wide<T>> column;
  for (Index i = 0; i < X.rows(); ++i) column.push_back(static_cast<Wide<T>>(X(i, j)));
  return column;
}

/// The held rows of A, ascending. Their entries of `diagonal` are positive, the others not.
template <WideScalar W>
std::vector<Index> find_held(HostContext& context, const View<W>& A,
                             std::vector<double>& diagonal) {
  diagonal = signed_diagonal(context, A);
  std::vector<Index> rows;
  const auto held = [](double entry) { return entry > 0; };
  if (std::none_of(diagonal.begin(), diagonal.end(), held)) return rows;
  leave_out_like_neighbours(A, diagonal);
  for (Index i = 0; i < A.rows; ++i) {
    if (held(diagonal[static_cast<std::size_t>(i)])) rows.push_back(i);
  }
  return rows;
}

/// Replaces B by B'. Returns the largest ‖b‖/‖b'‖, or 0 if a norm is not finite.
template <WideScalar W>
double solve_columns(const View<W>& A, std::span<const double> diagonal,
                     std::span<const Index> rows, BlockView<W, HostSpace> B) {
  double share = 0;
  for (Index j = 0; j < B.cols(); ++j) {
    std::vector<W> b = column_of<W>(B, j), x(b.size());
    const double norm = norm_of(b);
    solve_held(A, diagonal, rows, b, x);
    drive_others(A, diagonal, rows, x, b);
    const double driving = norm_of(b);
    if (!std::isfinite(norm) || !std::isfinite(driving)) return 0;
    if (norm > 0) share = std::max(share, norm / driving);
    for (Index i = 0; i < B.rows(); ++i) B(i, j) = b[static_cast<std::size_t>(i)];
  }
  return share;
}

}  // namespace

template <WideScalar W>
HeldRowsOf<W>::HeldRowsOf(HostContext& context, const HostMatrix<W>& A, const HostBlock<W>& rhs,
                          const Facts& facts, const Request& request) {
  if (is_eigensolver(request.method) || facts.normal_equations) return;
  if (facts.own_rows || !facts.A.stored) return;
  std::vector<Index> rows = find_held(context, A.view(), diagonal_);
  if (rows.empty() || std::ssize(rows) == facts.order()) return;
  MultiVector<W, HostSpace> B = copy_of<W>(context, rhs.view());
  share_ = solve_columns<W>(A.view(), diagonal_, rows, B.view());
  if (share_ < kDominates) return;

  const auto [least, most] = std::minmax_element(diagonal_.begin(), diagonal_.end());
  contrast_ = *most / -*least;
  A_ = A;
  B_ = rhs;
  driving_ = HostBlock<W>(std::move(B));
  exponents_ = exponents_for(diagonal_, rows, -*least);
  scaled_ = scaled<W>(context, A.view(), rows, exponents_);
  rows_ = std::move(rows);
}

template <WideScalar W>
void HeldRowsOf<W>::eliminate(HostContext& context, HostProblem<W>& problem) const {
  if (empty()) return;
  problem.A = scaled_;
  problem.rhs = driving_;
  if (problem.preconditioner) {
    problem.preconditioner =
        scaled_preconditioner<W>(context, *problem.preconditioner, rows_, exponents_);
  }
  if (problem.initial_guess.cols() == 0) return;
  MultiVector<W, HostSpace> guess = copy_of<W>(context, problem.initial_guess.view());
  for (const Index i : rows_) {
    for (Index j = 0; j < guess.cols(); ++j) guess.view()(i, j) = W{};
  }
  problem.initial_guess = HostBlock<W>(std::move(guess));
}

template <WideScalar W>
template <Scalar T>
HostBlock<T> HeldRowsOf<W>::completed(const std::shared_ptr<HostContext>& host,
                                      const HostBlock<T>& Y) const {
  MultiVector<T, HostSpace> X(*host, Y.rows(), Y.cols());
  copy<T>(*host, Y.view(), X.view());
  for (Index j = 0; j < B_.cols(); ++j) {
    std::vector<W> x = column_of<T>(Y.view(), j);
    solve_held<W>(A_.view(), diagonal_, rows_, column_of<W>(B_.view(), j), x);
    for (const Index i : rows_) X.view()(i, j) = static_cast<T>(x[static_cast<std::size_t>(i)]);
  }
  return {std::move(X), host};
}

template <WideScalar W>
void HeldRowsOf<W>::put_back(const std::shared_ptr<HostContext>& host, Solution& solution) const {
  if (empty()) return;
  if constexpr (kComplex<W>) {
    solution.vectors = completed(host, std::get<HostBlock<W>>(solution.vectors));
  } else {
    solution.vectors = visit_real(solution.vectors,
                                  [&](const auto& Y) { return HostVectors(completed(host, Y)); });
  }
  solution.reason += fmt::format(
      "; {} {} held by diagonal entries up to {:.0e} times those of the others, and {} of |b|: "
      "residuals are relative to what drives the other rows",
      rows_.size(), rows_.size() == 1 ? "row is" : "rows are", contrast_,
      std::isfinite(share_) ? fmt::format("all but {:.0e}", 1 / share_) : "all");
}

template class HeldRowsOf<double>;
template class HeldRowsOf<std::complex<double>>;

}  // namespace heddle::detail
