#include <algorithm>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/packet.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/iterated_solves.hpp>
#include <utility>

namespace heddle::detail {
namespace {

/// L without its diagonal, which is at the end of each row.
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

/// 1/L(i, i) for all i.
template <Scalar T>
Buffer<T, HostSpace> inverse_of_last(HostContext& context, const CsrView<T, HostSpace>& L) {
  Buffer<T, HostSpace> inverse(context, static_cast<std::size_t>(L.rows));
  for (Index i = 0; i < L.rows; ++i) {
    inverse[static_cast<std::size_t>(i)] = 1 / L.values[L.row_offsets[i + 1] - 1];
  }
  return inverse;
}

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

/// The largest number of sweeps, up to `kMaxSweeps`, in which the corrections of each of a few
/// random vectors shrink from sweep to sweep.
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

/// Y ← D⁻¹X, then in each sweep Y ← D⁻¹X − D⁻¹N Y. `plan` multiplies by D⁻¹N.
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

#define HEDDLE_INSTANTIATE(T, Ctx) template class IteratedSolves<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
