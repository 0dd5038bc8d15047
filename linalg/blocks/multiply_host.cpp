#include <heddle/linalg/blocks/row_products.hpp>
#include <heddle/linalg/context/instantiate.hpp>

namespace heddle {
namespace {

template <class T>
bool is_column_times_number(const RowProduct<T>& p) {
  return p.a == 1 && p.b == 1 && p.X.row_stride == 1 && p.w_ld == 1 && p.y_ld == 1 &&
         p.copy == nullptr;
}

/// y = c x + β w for columns without gaps, whose entries fill vectors.
template <class T>
void multiply_column(HostContext& context, const RowProduct<T>& p) {
  const T c = static_cast<T>(p.alpha * p.C(0, 0));
  constexpr Index kLeastRows = 512;
  const Slabs slabs = make_slabs(p.n, kLeastRows);
  const double moved = 3 * static_cast<double>(p.n) * sizeof(T);
  parallel_for(team_size(context.threads(), moved, 0), slabs.count(), [&](Index slab) {
    const Index begin = slabs.begin(slab);
    const Index end = slabs.end(slab);
    if (p.beta == T{0}) {
#pragma omp simd
      for (Index i = begin; i < end; ++i) p.y[i] = c * p.X.data[i];
    } else {
#pragma omp simd
      for (Index i = begin; i < end; ++i) p.y[i] = c * p.X.data[i] + p.beta * p.w[i];
    }
  });
}

}  // namespace

template <Isa kVariant, Scalar T>
void multiply_kernel(HostContext& context, const RowProduct<T>& p) {
  if (is_column_times_number(p)) return multiply_column(context, p);
  const PackedProduct<T> product(
      p, static_cast<T*>(context.scratch(
             sizeof(T) *
             static_cast<std::size_t>(PackedProduct<T>::memory_size(p, context.threads())))));
  const double blocks = static_cast<double>(p.n * (p.a + p.b)) * sizeof(T);
  const double flops = 2 * static_cast<double>(p.n) * static_cast<double>(p.a * p.b);
  const Index panels = (p.n + kProductPanelRows - 1) / kProductPanelRows;
  parallel_for(team_size(context.threads(), blocks, flops), panels, [&](Index panel, int member) {
    const Index first = panel * kProductPanelRows;
    product.compute(first, std::min(first + kProductPanelRows, p.n), member);
  });
}

#define HEDDLE_INSTANTIATE(T) \
  template void multiply_kernel<kIsa, T>(HostContext&, const RowProduct<T>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
