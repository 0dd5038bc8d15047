#include <heddle/linalg/blocks/row_loops.hpp>
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

/// The threads that a product pays for.
template <class T>
int product_threads(const HostContext& context, const RowProduct<T>& p) {
  const double blocks = static_cast<double>(p.n * (p.a + p.b)) * sizeof(T);
  const double flops = 2 * static_cast<double>(p.n) * static_cast<double>(p.a * p.b);
  return team_size(context.threads(), blocks, flops);
}

}  // namespace

template <Isa kVariant, Scalar T>
void multiply_kernel(HostContext& context, const RowProduct<T>& p) {
  if (is_column_times_number(p)) return multiply_column(context, p);
  const auto numbers =
      static_cast<std::size_t>(PackedProduct<T>::memory_size(p, context.threads()));
  const PackedProduct<T> product(p, static_cast<T*>(context.scratch(sizeof(T) * numbers)));
  const Slabs panels{p.n, kProductPanelRows};
  parallel_for(product_threads(context, p), panels.count(), [&](Index panel, int member) {
    product.compute(panels.begin(panel), panels.end(panel), member);
  });
}

template <Isa kVariant, Scalar T>
void multiply_kernel(HostContext& context, const RowProduct<T>& p,
                     SmallView<double, HostSpace> squares) {
  const Slabs slabs = make_slabs(p.n, kMinSlabRows);
  const Index partials = slabs.count() * p.b;
  const auto numbers =
      static_cast<std::size_t>(PackedProduct<T>::memory_size(p, context.threads()));
  auto* const memory = static_cast<T*>(
      context.scratch(sizeof(T) * numbers + sizeof(double) * static_cast<std::size_t>(partials)));
  const PackedProduct<T> product(p, memory);
  auto* const partial = reinterpret_cast<double*>(memory + numbers);  // behind whole vectors
  std::fill_n(partial, partials, 0.0);
  const auto square = [&p](Index i, Index j) {
    const double y = static_cast<double>(p.y[i * p.y_ld + j]);
    return y * y;
  };
  parallel_for(product_threads(context, p), slabs.count(), [&](Index slab, int member) {
    double* const sums = partial + slab * p.b;
    for (Index first = slabs.begin(slab); first < slabs.end(slab); first += kProductPanelRows) {
      const Index end = std::min(first + kProductPanelRows, slabs.end(slab));
      product.compute(first, end, member);
      add_rows(first, end, p.b, square, sums);
    }
  });
  add_slabs(slabs, partial, squares);
}

#define HEDDLE_INSTANTIATE(T)                                                 \
  template void multiply_kernel<kIsa, T>(HostContext&, const RowProduct<T>&); \
  template void multiply_kernel<kIsa, T>(HostContext&, const RowProduct<T>&,  \
                                         SmallView<double, HostSpace>);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
