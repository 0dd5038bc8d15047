#include <array>
#include <heddle/linalg/blocks/gram_sums.hpp>
#include <heddle/linalg/blocks/row_products.hpp>
#include <heddle/linalg/context/instantiate.hpp>

namespace heddle {

template <Isa kVariant, Scalar T>
void multiply_gram_kernel(HostContext& context, const RowProduct<T>& p,
                          const ConstBlockView<T, HostSpace>& Z, const GramProduct<T>& product) {
  const std::array<GramProduct<T>, 1> products{product};
  const GramSums<T, 1> sums(Z, products);
  const int all = context.threads();
  const Index doubles = sums.memory_size(all);
  auto* const memory = static_cast<double*>(
      context.scratch(sizeof(double) * static_cast<std::size_t>(doubles) +
                      sizeof(T) * static_cast<std::size_t>(PackedProduct<T>::memory_size(p, all))));
  const PackedProduct<T> packed(p, reinterpret_cast<T*>(memory + doubles));
  const double moved = bytes(Z) + static_cast<double>(p.n * (p.a + p.b)) * sizeof(T);
  const double flops = sums.flops() + 2 * static_cast<double>(p.n) * static_cast<double>(p.a * p.b);
  sums.compute(
      team_size(all, moved, flops), true,
      [&](Index first, Index end, int member) { packed.compute(first, end, member); }, memory,
      products);
  context.profile().count(moved, flops);
}

#define HEDDLE_INSTANTIATE(T)                                                      \
  template void multiply_gram_kernel<kIsa, T>(HostContext&, const RowProduct<T>&,  \
                                              const ConstBlockView<T, HostSpace>&, \
                                              const GramProduct<T>&);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
