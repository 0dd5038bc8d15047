#include <heddle/apps/spmm/product_engine.hpp>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/spmm/column_major.hpp>
#include <heddle/spmm/low_precision/low_precision.hpp>
#include <heddle/spmm/spmm.hpp>
#include <utility>
#ifdef HEDDLE_HAS_CUDA
#endif

namespace heddle::apps {
namespace {

/// Seconds of `work`. On a GPU it is run once before, so that its memory is there and the clock
/// counts the product alone.
template <class Ctx, class Work>
double seconds_of(Ctx& context, const Work& work) {
  if constexpr (!std::is_same_v<Ctx, HostContext>) {
    work();
    context.synchronize();
  }
  const auto begin = Clock::now();
  work();
  context.synchronize();
  return seconds_since(begin);
}

template <Scalar T>
MultiVector<T, HostSpace> transposed(HostContext& host, ConstBlockView<T, HostSpace> block) {
  MultiVector<T, HostSpace> result(host, block.cols(), block.rows());
  for (Index i = 0; i < block.rows(); ++i) {
    for (Index j = 0; j < block.cols(); ++j) result.view()(j, i) = block(i, j);
  }
  return result;
}

/// A plan, how it keeps A, and what its blocks are ordered by.
template <class V, class Ctx>
struct OrderedPlan {
  LowPrecisionPlan<V, Ctx> plan;
  std::string storage;
  std::string order;
};

template <class V>
OrderedPlan<V, HostContext> make_plan(HostContext& context, HostContext&,
                                      CsrView<double, HostSpace> A, Index,
                                      const NarrowOptions& options) {
  return {{context, A, options.scaling}, "", ""};
}

template <class V>
std::vector<std::int32_t> exponents_of_columns(HostContext&,
                                               const LowPrecisionPlan<V, HostContext>& plan) {
  return plan.column_exponents();
}

#ifdef HEDDLE_HAS_CUDA
template <class V>
OrderedPlan<V, CudaContext> make_plan(CudaContext& context, HostContext& host,
                                      CsrView<double, HostSpace> A, Index N,
                                      const NarrowOptions& options) {
  BlockOrdering ordering;
  if (options.fastest_order) {
    const RowPattern pattern{A.rows, A.cols, A.nnz, A.row_offsets, A.columns};
    ordering = fastest_block_order<V>(context, host, pattern, N);
  }
  OrderedPlan<V, CudaContext> made{{context, host, A, options.scaling, ordering.order}, "", ""};
  made.storage = storage_name(made.plan.storage());
  if (!made.plan.in_rows()) made.order = reordering_name(ordering.kind);
  return made;
}

template <class V>
std::vector<std::int32_t> exponents_of_columns(CudaContext& context,
                                               const LowPrecisionPlan<V, CudaContext>& plan) {
  return plan.column_exponents(context);
}
#endif

/// B by columns, in the context's memory.
template <class Ctx>
Buffer<double, typename Ctx::Space> placed_by_columns(Ctx& context, HostContext& host,
                                                      ConstBlockView<double, HostSpace> B) {
  Buffer<double, HostSpace> columns(host, static_cast<std::size_t>(B.rows() * B.cols()));
  for (Index j = 0; j < B.cols(); ++j) {
    for (Index i = 0; i < B.rows(); ++i) columns.data()[i + j * B.rows()] = B(i, j);
  }
  return place(context, std::move(columns));
}

}  // namespace

template <Scalar T, class Ctx>
ComputedProduct<T> plain_product(Ctx& context, HostContext& host, HostCsrMatrix<T> A,
                                 MultiVector<T, HostSpace> B, const PlainOptions& options) {
  using Space = typename Ctx::Space;
  ComputedProduct<T> product;
  const Index N = B.cols();
  const bool by_columns = options.by_columns;
  if (by_columns) B = transposed(host, std::as_const(B).view());
  const auto begin = Clock::now();
  const auto placed = place(context, std::move(A));
  const SpmmPlan<T, Ctx> plan(context, placed.view(), {options.kernel});
  ColumnMajorProduct<T, Ctx> columns(plan, placed.rows(), placed.cols());
  const auto X = place(context, std::move(B));
  MultiVector<T, Space> Y(context, by_columns ? N : placed.rows(), by_columns ? placed.rows() : N);
  product.setup_seconds = seconds_since(begin);
  product.seconds = seconds_of(context, [&] {
    if (by_columns) return columns.multiply(context, T{1}, X.view(), T{0}, Y.view());
    plan.multiply(context, T{1}, X.view(), T{0}, Y.view());
  });
  product.kernel = plan.kernel(N);
  product.reason = plan.reason(N);
  product.C = fetch(context, host, std::move(Y));
  if (by_columns) product.C = transposed(host, std::as_const(product.C).view());
  return product;
}

template <class V, class Ctx>
ComputedProduct<float> narrow_product(Ctx& context, HostContext& host, CsrView<double, HostSpace> A,
                                      MultiVector<double, HostSpace> B,
                                      const NarrowOptions& options) {
  using Space = typename Ctx::Space;
  ComputedProduct<float> product;
  const auto begin = Clock::now();
  OrderedPlan<V, Ctx> ordered = make_plan<V>(context, host, A, B.cols(), options);
  MultiVector<float, Space> Y(context, A.rows, B.cols());
  const auto measure = [&](const auto& X) {
    product.setup_seconds = seconds_since(begin);
    product.seconds = seconds_of(context, [&] { ordered.plan.multiply(context, X, Y.view()); });
  };
  if (options.by_columns) {
    const auto X = placed_by_columns(context, host, std::as_const(B).view());
    measure(ColumnMajorBlock<double, Space>{X.data(), B.rows(), B.cols(), B.rows()});
  } else {
    const MultiVector<double, Space> X = place(context, std::move(B));
    measure(X.view());
  }
  product.C = fetch(context, host, std::move(Y));
  product.storage = std::move(ordered.storage);
  product.order = std::move(ordered.order);
  product.row_exponents = ordered.plan.row_exponents();
  product.column_exponents = exponents_of_columns(context, ordered.plan);
  return product;
}

#define HEDDLE_INSTANTIATE_PLAIN(T, CTX)                                          \
  template ComputedProduct<T> plain_product(CTX&, HostContext&, HostCsrMatrix<T>, \
                                            MultiVector<T, HostSpace>, const PlainOptions&);
#define HEDDLE_INSTANTIATE_NARROW(V, CTX)                                             \
  template ComputedProduct<float> narrow_product<V>(                                  \
      CTX&, HostContext&, CsrView<double, HostSpace>, MultiVector<double, HostSpace>, \
      const NarrowOptions&);
#define HEDDLE_INSTANTIATE(CTX)            \
  HEDDLE_INSTANTIATE_PLAIN(float, CTX)     \
  HEDDLE_INSTANTIATE_PLAIN(double, CTX)    \
  HEDDLE_INSTANTIATE_NARROW(Half, CTX)     \
  HEDDLE_INSTANTIATE_NARROW(Bfloat16, CTX) \
  HEDDLE_INSTANTIATE_NARROW(Tf32, CTX)
HEDDLE_INSTANTIATE(HostContext)
#ifdef HEDDLE_HAS_CUDA
HEDDLE_INSTANTIATE(CudaContext)
#endif
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_NARROW
#undef HEDDLE_INSTANTIATE_PLAIN

}  // namespace heddle::apps
