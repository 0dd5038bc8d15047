#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/plan/remote_product.hpp>
#include <heddle/spmm/plan/remote_rows.hpp>
#include <type_traits>

namespace heddle::detail {
namespace {

/// C(rows[k], j) += sums(k, j) and, with η ≠ 0, Y(rows[k], j) += η sums(k, j).
template <Scalar T>
void add_to_rows(HostContext& context, const Buffer<std::int32_t, HostSpace>& rows,
                 ConstBlockView<T, HostSpace> sums, BlockView<T, HostSpace> C, T eta,
                 BlockView<T, HostSpace> Y) {
  const auto count = static_cast<Index>(rows.size());
  const double bytes = 3 * static_cast<double>(count * C.cols()) * sizeof(T);
  parallel_for(team_size(context.threads(), bytes, 0), count, [&](Index k) {
    const Index row = rows[static_cast<std::size_t>(k)];
    for (Index j = 0; j < C.cols(); ++j) C(row, j) += sums(k, j);
    if (eta == T{0}) return;
    for (Index j = 0; j < C.cols(); ++j) Y(row, j) += eta * sums(k, j);
  });
}

}  // namespace

template <Scalar T, class Ctx>
RemoteProduct<T, Ctx>::RemoteProduct(Ctx& context, const RemoteColumns<T, Space>& remote,
                                     const SpmmOptions& options)
    : remote_(remote),
      exchange_(context, *remote.lists),
      plan_(context, remote.entries.view(), options) {}

template <Scalar T, class Ctx>
void RemoteProduct<T, Ctx>::prepare(Ctx& context, Index N) {
  exchange_.prepare(context, N);
  if (remote_.entries.rows() == 0) return;
  if (sums_.cols() < N) {
    sums_ = {};
    sums_ = MultiVector<T, Space>(context, remote_.entries.rows(), N);
  }
  if constexpr (std::is_same_v<Ctx, CudaContext>) plan_.prepare(context, N);
}

template <Scalar T, class Ctx>
void RemoteProduct<T, Ctx>::begin(Ctx& context, ConstBlockView<T, Space> B) {
  prepare(context, B.cols());
  exchange_.begin(context, B);
}

template <Scalar T, class Ctx>
void RemoteProduct<T, Ctx>::add(Ctx& context, T alpha, const SpmmEpilogue<T, Space>& epilogue,
                                BlockView<T, Space> C) {
  const ConstBlockView<T, Space> halo = exchange_.end(context);
  if (remote_.entries.rows() == 0) return;
  const BlockView<T, Space> sums = sums_.columns(0, C.cols());
  plan_.multiply(context, alpha, halo, T{0}, sums);
  add_to_rows<T>(context, remote_.rows, sums, C, epilogue.eta, epilogue.Y);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class RemoteProduct<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
