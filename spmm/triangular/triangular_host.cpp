#include <algorithm>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/triangular.hpp>
#include <heddle/spmm/triangular/level_order.hpp>
#include <utility>

namespace heddle {
namespace {

/// The number of rows of a level below which threads would wait for each other longer than they
/// work.
constexpr Index kMinParallelRows = 64;

/// Rows that can be solved once all rows before them are: those of one level, in parallel, or those
/// of several small levels, one after the other.
struct Stage {
  Index begin;  // into the rows in the order of their levels
  Index end;
  bool parallel;
};

std::vector<Stage> stages_of(const std::vector<Index>& level_begins) {
  std::vector<Stage> stages;
  for (std::size_t l = 0; l + 1 < level_begins.size(); ++l) {
    const Index begin = level_begins[l];
    const Index end = level_begins[l + 1];
    const bool parallel = end - begin >= kMinParallelRows;
    if (!parallel && !stages.empty() && !stages.back().parallel) {
      stages.back().end = end;
    } else {
      stages.push_back({begin, end, parallel});
    }
  }
  return stages;
}

/// y ← d (x − Σ_e N(k, e) y_e) over `Width` columns; x and y are those of the row, Y those of row
/// 0. Several partial sums, because a single one is a chain of dependent additions.
template <int Width, Scalar T>
void solve_row(const CsrView<T, HostSpace>& N, Index k, T d, const T* x, T* y, const T* Y,
               Index ld) {
  constexpr int kSums = Width > 8 ? 2 : 4;
  T sums[kSums][Width] = {};
  std::copy_n(x, Width, sums[0]);
  const auto add_entry = [&](std::int64_t e, T(&sum)[Width]) {
    const T value = N.values[e];
    const T* const other = Y + N.columns[e] * ld;
#pragma omp simd
    for (int c = 0; c < Width; ++c) sum[c] -= product(value, other[c]);
  };
  const std::int64_t end = N.row_offsets[k + 1];
  std::int64_t e = N.row_offsets[k];
  for (; e + kSums <= end; e += kSums) {
    for (int s = 0; s < kSums; ++s) add_entry(e + s, sums[s]);
  }
  for (; e < end; ++e) add_entry(e, sums[0]);
  for (int s = 1; s < kSums; ++s) {
#pragma omp simd
    for (int c = 0; c < Width; ++c) sums[0][c] += sums[s][c];
  }
#pragma omp simd
  for (int c = 0; c < Width; ++c) y[c] = product(d, sums[0][c]);
}

/// The same for one column, where rows wait for each other rather than for additions: the entry
/// that was computed last is the last one to be added.
template <Scalar T>
T solve_entry(const CsrView<T, HostSpace>& N, Index k, T d, T x, const T* Y, Index ld) {
  for (std::int64_t e = N.row_offsets[k]; e < N.row_offsets[k + 1]; ++e) {
    x -= product(N.values[e], Y[N.columns[e] * ld]);
  }
  return product(d, x);
}

}  // namespace

template <Scalar T>
struct TriangularPlan<T, HostContext>::State {
  detail::LevelOrder<T> order;
  std::vector<Stage> stages;

  /// The k-th row, all columns.
  void solve_row(Index k, const ConstBlockView<T, HostSpace>& X,
                 const BlockView<T, HostSpace>& Y) const {
    const CsrView<T, HostSpace> N = order.entries.view();
    const Index row = order.rows[static_cast<std::size_t>(k)];
    const T d = order.inverse_diagonal[static_cast<std::size_t>(k)];
    const T* x = X.data() + row * X.ld();
    T* y = Y.data() + row * Y.ld();
    Index c = 0;
    const auto columns = [&]<int Width>() {
      for (; c + Width <= Y.cols(); c += Width) {
        heddle::solve_row<Width>(N, k, d, x + c, y + c, Y.data() + c, Y.ld());
      }
    };
    if (Y.cols() > 1) {
      columns.template operator()<16>();
      columns.template operator()<8>();
      columns.template operator()<4>();
      columns.template operator()<2>();
    }
    if (c < Y.cols()) y[c] = solve_entry(N, k, d, x[c], Y.data() + c, Y.ld());
  }
};

template <Scalar T>
TriangularPlan<T, HostContext>::TriangularPlan(HostContext& context, CsrView<T, HostSpace> A,
                                               Triangle triangle)
    : state_(std::make_unique<State>(State{detail::order_by_levels(context, A, triangle), {}})) {
  state_->stages = stages_of(state_->order.level_begins);
}

template <Scalar T>
TriangularPlan<T, HostContext>::~TriangularPlan() = default;
template <Scalar T>
TriangularPlan<T, HostContext>::TriangularPlan(TriangularPlan&&) noexcept = default;
template <Scalar T>
TriangularPlan<T, HostContext>& TriangularPlan<T, HostContext>::operator=(
    TriangularPlan&&) noexcept = default;

template <Scalar T>
void TriangularPlan<T, HostContext>::solve(HostContext& context, ConstBlockView<T, HostSpace> X,
                                           BlockView<T, HostSpace> Y) const {
  const HostCsrMatrix<T>& N = state_->order.entries;
  detail::check_triangular_shapes(N.rows(), {X.rows(), X.cols()}, {Y.rows(), Y.cols()});
  if (Y.empty()) return;
  const double bytes = detail::substitution_bytes<T>(N.nnz(), N.rows(), Y.cols());
  const double flops = detail::substitution_flops(N.nnz(), N.rows(), Y.cols());
  for (const Stage& stage : state_->stages) {
    const double share =
        static_cast<double>(stage.end - stage.begin) / static_cast<double>(N.rows());
    const int threads =
        stage.parallel ? team_size(context.threads(), share * bytes, share * flops) : 1;
    parallel_for(threads, stage.end - stage.begin,
                 [&](Index k) { state_->solve_row(stage.begin + k, X, Y); });
  }
  context.profile().count(bytes, flops);
}

template <Scalar T>
Index TriangularPlan<T, HostContext>::levels() const noexcept {
  return state_->order.levels();
}

#define HEDDLE_INSTANTIATE(T) template class TriangularPlan<T, HostContext>;
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
