#include <heddle/apps/spmm/product_engine.hpp>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/spmm/column_major.hpp>
#include <heddle/spmm/low_precision/low_precision.hpp>
#include <heddle/spmm/model/model.hpp>
#include <heddle/spmm/reorder/block_order.hpp>
#include <heddle/spmm/spmm.hpp>
#include <utility>

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

/// The plan, with what it says of itself in `product`.
template <class V>
LowPrecisionPlan<V, HostContext> make_plan(HostContext& context, HostContext&,
                                           CsrView<double, HostSpace> A, Index,
                                           const NarrowOptions& options, ComputedProduct<float>&) {
  return {context, A, {.scaling = options.scaling}};
}

template <class V>
std::vector<std::int32_t> exponents_of_columns(HostContext&,
                                               const LowPrecisionPlan<V, HostContext>& plan) {
  return plan.column_exponents();
}

#ifdef HEDDLE_HAS_CUDA
template <class V>
LowPrecisionPlan<V, CudaContext> make_plan(CudaContext& context, HostContext& host,
                                           CsrView<double, HostSpace> A, Index N,
                                           const NarrowOptions& options,
                                           ComputedProduct<float>& product) {
  constexpr BlockShape kShape = LowPrecisionPlan<V, CudaContext>::kShape;
  BlockOrdering ordering;
  if (options.fastest_order) {
    const auto seconds = [&](bool gathered) {
      return nominal_block_seconds(kShape.height, kShape.width, N, sizeof(V), gathered,
                                   device_speed(context));
    };
    ordering = best_order_for_blocks(host, pattern_of(A), kShape, {seconds(false), seconds(true)});
  }
  LowPrecisionPlan<V, CudaContext> plan(context, host, A,
                                        {.scaling = options.scaling,
                                         .kernel = options.kernel,
                                         .columns = N,
                                         .order = std::move(ordering.order)});
  product.kernel = plan.kernel();
  product.reason = plan.reason();
  if (plan.follows_order()) product.order = reordering_name(ordering.kind);
  return plan;
}

template <class V>
std::vector<std::int32_t> exponents_of_columns(CudaContext& context,
                                               const LowPrecisionPlan<V, CudaContext>& plan) {
  return plan.column_exponents(context);
}
#endif

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
  const Index N = B.cols();
  const bool by_columns = options.by_columns;
  if (by_columns) B = transposed(host, std::as_const(B).view());
  const auto begin = Clock::now();
  auto plan = make_plan<V>(context, host, A, N, options, product);
  const MultiVector<double, Space> X = place(context, std::move(B));
  MultiVector<double, Space> rows(context, by_columns ? A.cols : 0, N);
  MultiVector<float, Space> Y(context, A.rows, N);
  product.setup_seconds = seconds_since(begin);
  product.seconds = seconds_of(context, [&] {
    if (by_columns) transpose_block<double, double>(context, X.view(), 0.0, rows.view());
    const auto by_rows = by_columns ? std::as_const(rows).view() : X.view();
    plan.multiply(context, by_rows, Y.view());
  });
  product.C = fetch(context, host, std::move(Y));
  product.row_exponents = plan.row_exponents();
  product.column_exponents = exponents_of_columns(context, plan);
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
