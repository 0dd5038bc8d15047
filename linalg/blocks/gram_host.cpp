#include <array>
#include <heddle/linalg/blocks/gram_sums.hpp>
#include <heddle/linalg/context/instantiate.hpp>

namespace heddle {

template <Isa kVariant, Scalar T, std::size_t kCount>
void gram_kernel(HostContext& context, const ConstBlockView<T, HostSpace>& X,
                 const std::array<GramProduct<T>, kCount>& products) {
  const GramSums<T, kCount> sums(X, products);
  auto* const memory = static_cast<double*>(context.scratch(
      sizeof(double) * static_cast<std::size_t>(sums.memory_size(context.threads()))));
  double moved = bytes(X);
  for (const GramProduct<T>& product : products) {
    if (same_block(X, product.Y)) continue;
    moved += product.scaled != nullptr ? bytes(product.scaled->block) : bytes(product.Y);
  }
  sums.compute(
      team_size(context.threads(), moved, sums.flops()), false, [](Index, Index, int) {}, memory,
      products);
  context.profile().count(moved, sums.flops());
}

#define HEDDLE_INSTANTIATE(T)                                                           \
  template void gram_kernel<kIsa, T>(HostContext&, const ConstBlockView<T, HostSpace>&, \
                                     const std::array<GramProduct<T>, 1>&);             \
  template void gram_kernel<kIsa, T>(HostContext&, const ConstBlockView<T, HostSpace>&, \
                                     const std::array<GramProduct<T>, 2>&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
