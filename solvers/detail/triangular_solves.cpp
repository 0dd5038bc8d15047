#include <omp.h>

#include <algorithm>
#include <heddle/linalg/block_ops.hpp>
#include <heddle/linalg/instantiate.hpp>
#include <heddle/linalg/packet.hpp>
#include <heddle/linalg/transfer.hpp>
#include <heddle/solvers/detail/triangular_solves.hpp>
#include <utility>

namespace heddle {
namespace {

/// Rows of a level below which threads would wait for each other longer than they work.
constexpr Index kMinParallelRows = 64;

/// L without its diagonal, which ends each row.
template <Scalar T>
HostCsrMatrix<T> off_diagonal(HostContext& context, const CsrView<T, HostSpace>& L) {
  HostCsrMatrix<T> N(context, L.rows, L.cols, L.nnz - L.rows);
  for (Index i = 0; i < L.rows; ++i) {
    const std::int64_t target = L.row_offsets[i] - i;
    const Index count = L.row_offsets[i + 1] - 1 - L.row_offsets[i];
    N.row_offsets()[i] = target;
    std::copy_n(L.columns + L.row_offsets[i], count, N.columns() + target);
    std::copy_n(L.values + L.row_offsets[i], count, N.values() + target);
  }
  N.row_offsets()[L.rows] = L.nnz - L.rows;
  return N;
}

/// 1/L(i, i).
template <Scalar T>
Buffer<T, HostSpace> inverse_of_last(HostContext& context, const CsrView<T, HostSpace>& L) {
  Buffer<T, HostSpace> inverse(context, static_cast<std::size_t>(L.rows));
  for (Index i = 0; i < L.rows; ++i) {
    inverse[static_cast<std::size_t>(i)] = 1 / L.values[L.row_offsets[i + 1] - 1];
  }
  return inverse;
}

/// y_i ← d (y_i − Σ_j N(i, j) y_j) over `Width` columns.
template <int Width, Scalar T>
void solve_row(const CsrView<T, HostSpace>& N, Index i, T d, T* y, Index ld) {
  T sum[Width];
  T* row = y + i * ld;
  std::copy_n(row, Width, sum);
  for (std::int64_t e = N.row_offsets[i]; e < N.row_offsets[i + 1]; ++e) {
    const T value = N.values[e];
    const T* other = y + N.columns[e] * ld;
#pragma omp simd
    for (int c = 0; c < Width; ++c) sum[c] -= value * other[c];
  }
#pragma omp simd
  for (int c = 0; c < Width; ++c) row[c] = d * sum[c];
}

/// The same over all columns of Y.
template <Scalar T>
void solve_row(const CsrView<T, HostSpace>& N, Index i, T d, const BlockView<T, HostSpace>& Y) {
  Index c = 0;
  for (; c + 16 <= Y.cols(); c += 16) solve_row<16>(N, i, d, Y.data() + c, Y.ld());
  for (; c + 4 <= Y.cols(); c += 4) solve_row<4>(N, i, d, Y.data() + c, Y.ld());
  for (; c < Y.cols(); ++c) solve_row<1>(N, i, d, Y.data() + c, Y.ld());
}

/// The level of each row of a triangle: one more than the highest of the rows it waits for.
template <Scalar T>
std::vector<Index> levels_of_rows(const CsrView<T, HostSpace>& N, bool lower) {
  std::vector<Index> level(static_cast<std::size_t>(N.rows));
  for (Index k = 0; k < N.rows; ++k) {
    const Index i = lower ? k : N.rows - 1 - k;
    Index highest = 0;
    for (std::int64_t e = N.row_offsets[i]; e < N.row_offsets[i + 1]; ++e) {
      highest = std::max(highest, level[static_cast<std::size_t>(N.columns[e])] + 1);
    }
    level[static_cast<std::size_t>(i)] = highest;
  }
  return level;
}

}  // namespace

template <Scalar T>
LevelScheduledSolves<T>::LevelScheduledSolves(HostContext& context, HostCsrMatrix<T> L)
    : inverse_diagonal_(inverse_of_last(context, L.view())) {
  lower_.entries = off_diagonal(context, L.view());
  upper_.entries = transpose(context, lower_.entries.view());
  levels_ = std::max(schedule(lower_, true), schedule(upper_, false));
}

/// Sorts the rows by level and cuts them into stages; returns the number of levels.
template <Scalar T>
Index LevelScheduledSolves<T>::schedule(Triangle& triangle, bool lower) {
  const std::vector<Index> level = levels_of_rows(triangle.entries.view(), lower);
  const Index count = level.empty() ? 0 : *std::max_element(level.begin(), level.end()) + 1;
  std::vector<Index> begins(static_cast<std::size_t>(count) + 1);
  for (const Index l : level) ++begins[static_cast<std::size_t>(l) + 1];
  for (std::size_t l = 1; l < begins.size(); ++l) begins[l] += begins[l - 1];
  std::vector<Index> next(begins.begin(), begins.end());
  triangle.rows.resize(level.size());
  for (std::size_t i = 0; i < level.size(); ++i) {
    triangle.rows[static_cast<std::size_t>(next[static_cast<std::size_t>(level[i])]++)] =
        static_cast<Index>(i);
  }
  for (std::size_t l = 0; l + 1 < begins.size(); ++l) {
    const bool parallel = begins[l + 1] - begins[l] >= kMinParallelRows;
    if (!parallel && !triangle.stages.empty() && !triangle.stages.back().parallel) {
      triangle.stages.back().end = begins[l + 1];
    } else {
      triangle.stages.push_back({begins[l], begins[l + 1], parallel});
    }
  }
  return count;
}

template <Scalar T>
void LevelScheduledSolves<T>::solve(HostContext& context, ConstBlockView<T, HostSpace> X,
                                    BlockView<T, HostSpace> Y) {
  if (X.data() != Y.data()) copy<T>(context, X, Y);
  substitute(context, lower_, Y);  // Y ← L⁻¹ Y
  substitute(context, upper_, Y);  // Y ← L⁻ᵀ Y
}

template <Scalar T>
void LevelScheduledSolves<T>::substitute(HostContext& context, const Triangle& triangle,
                                         BlockView<T, HostSpace> Y) const {
  const CsrView<T, HostSpace> N = triangle.entries.view();
  const auto solve = [&](Index k) {
    const Index i = triangle.rows[static_cast<std::size_t>(k)];
    solve_row(N, i, inverse_diagonal_[static_cast<std::size_t>(i)], Y);
  };
#pragma omp parallel num_threads(context.threads())
  for (const Stage& stage : triangle.stages) {
    if (stage.parallel) {
#pragma omp for schedule(static)
      for (Index k = stage.begin; k < stage.end; ++k) solve(k);
    } else {
#pragma omp single
      for (Index k = stage.begin; k < stage.end; ++k) solve(k);
    }
  }
  const double b = static_cast<double>(Y.cols());
  const double nnz = static_cast<double>(N.nnz);
  const double n = static_cast<double>(N.rows);
  context.profile().count(nnz * (sizeof(T) + 4) + n * (8 + sizeof(T)) + 2 * n * b * sizeof(T),
                          (2 * nnz + n) * b);
}

namespace {

/// diag(d) N.
template <Scalar T>
HostCsrMatrix<T> scale_rows_of(HostCsrMatrix<T> N, const Buffer<T, HostSpace>& d) {
  const CsrView<T, HostSpace> view = N.view();
  for (Index i = 0; i < view.rows; ++i) {
    for (std::int64_t e = view.row_offsets[i]; e < view.row_offsets[i + 1]; ++e) {
      N.values()[e] *= d[static_cast<std::size_t>(i)];
    }
  }
  return N;
}

}  // namespace

template <Scalar T, class Ctx>
IteratedSolves<T, Ctx>::IteratedSolves(Ctx& context, HostContext& host, HostCsrMatrix<T> L)
    : IteratedSolves(context, inverse_of_last(host, L.view()), off_diagonal(host, L.view()), host) {
}

template <Scalar T, class Ctx>
IteratedSolves<T, Ctx>::IteratedSolves(Ctx& context, Buffer<T, HostSpace> d, HostCsrMatrix<T> N,
                                       HostContext& host)
    : upper_(place(context, scale_rows_of(transpose(host, N.view()), d))),
      lower_(place(context, scale_rows_of(std::move(N), d))),
      inverse_diagonal_(place(context, std::move(d))),
      lower_plan_(context, lower_.view()),
      upper_plan_(context, upper_.view()),
      sweeps_(std::min(shrinking_sweeps(context, lower_plan_),
                       shrinking_sweeps(context, upper_plan_))) {}

/// The sweeps whose corrections become smaller and smaller, for each of some random vectors.
template <Scalar T, class Ctx>
int IteratedSolves<T, Ctx>::shrinking_sweeps(Ctx& context, const SpmmPlan<T, Ctx>& plan) {
  constexpr Index kProbes = 4;
  const Index n = lower_.rows();
  const ConstBlockView<T, Space> d(inverse_diagonal_.data(), n, 1, 1);
  MultiVector<T, Space> correction(context, n, kProbes), next(context, n, kProbes);
  Packet<Ctx> packet(context, (kMaxSweeps + 1) * kProbes);
  fill_random<T>(context, 0, 0, correction.view());
  scale_rows<T>(context, d, correction.view(), correction.view());
  typename Packet<Ctx>::Part norms[kMaxSweeps + 1];
  for (int k = 0; k <= kMaxSweeps; ++k) {
    norms[k] = packet.add(kProbes, 1);
    column_norms<T>(context, correction.view(), norms[k].there);
    plan.multiply(context, T{-1}, correction.view(), T{0}, next.view());
    std::swap(correction, next);
  }
  packet.fetch(context);
  for (int k = 1; k <= kMaxSweeps; ++k) {
    for (Index j = 0; j < kProbes; ++j) {
      if (!(norms[k].here(j, 0) <= norms[k - 1].here(j, 0))) return k - 1;
    }
  }
  return kMaxSweeps;
}

template <Scalar T, class Ctx>
void IteratedSolves<T, Ctx>::solve(Ctx& context, ConstBlockView<T, Space> X,
                                   BlockView<T, Space> Y) {
  if (scaled_.cols() < X.cols()) {
    for (MultiVector<T, Space>* block : {&scaled_, &next_}) {
      *block = MultiVector<T, Space>();
      *block = MultiVector<T, Space>(context, X.rows(), X.cols());
    }
  }
  iterate(context, lower_plan_, X, Y);  // Y ← K X
  iterate(context, upper_plan_, Y, Y);  // Y ← Kᵀ Y
}

/// y ← D⁻¹x, then again and again y ← D⁻¹x − D⁻¹N y.
template <Scalar T, class Ctx>
void IteratedSolves<T, Ctx>::iterate(Ctx& context, const SpmmPlan<T, Ctx>& plan,
                                     ConstBlockView<T, Space> X, BlockView<T, Space> Y) {
  const ConstBlockView<T, Space> d(inverse_diagonal_.data(), X.rows(), 1, 1);
  const BlockView<T, Space> scaled = scaled_.columns(0, X.cols());
  BlockView<T, Space> y = Y;
  BlockView<T, Space> next = next_.columns(0, X.cols());
  if (sweeps_ % 2 != 0) std::swap(y, next);  // the last sweep writes Y
  scale_rows<T>(context, d, X, scaled);
  copy<T>(context, scaled, y);
  for (int k = 0; k < sweeps_; ++k) {
    copy<T>(context, scaled, next);
    plan.multiply(context, T{-1}, y, T{1}, next);
    std::swap(y, next);
  }
}

template class LevelScheduledSolves<float>;
template class LevelScheduledSolves<double>;
#define HEDDLE_INSTANTIATE(T, Ctx) template class IteratedSolves<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
