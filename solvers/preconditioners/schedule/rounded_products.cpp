#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/convert.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/schedule/rounded_products.hpp>
#include <utility>

namespace heddle {
namespace {

/// Makes `block` n×b unless it has b columns. The memory of a narrower one is released first.
template <class Ctx>
void reserve_columns(Ctx& context, Index n, Index b,
                     MultiVector<float, typename Ctx::Space>& block) {
  if (block.cols() >= b) return;
  block = {};
  block = MultiVector<float, typename Ctx::Space>(context, n, b);
}

}  // namespace

template <class Ctx>
void RoundedProducts<Ctx>::take(std::unique_ptr<Single> M) {
  if (M == nullptr) throw InvalidArgument("RoundedProducts: there is no preconditioner");
  M_ = std::move(M);
}

template <class Ctx>
auto RoundedProducts<Ctx>::product(Ctx& context, ConstBlockView<double, Space> X)
    -> ScaledView<float, Space> {
  norm_scales<double>(context, X, scales(context, X.cols()));
  return scaled_product(context, X);
}

template <class Ctx>
auto RoundedProducts<Ctx>::product(Ctx& context, ConstBlockView<double, Space> X,
                                   ConstSmallView<double, Space> norms)
    -> ScaledView<float, Space> {
  norm_scales(context, norms, scales(context, X.cols()));
  return scaled_product(context, X);
}

/// Memory for s_j and 1/s_j of b columns.
template <class Ctx>
SmallView<double, typename Ctx::Space> RoundedProducts<Ctx>::scales(Ctx& context, Index b) {
  if (std::ssize(energies_) < b) {
    scales_ = SmallMatrix<double, Space>(context, b, 2);
    energies_.resize(static_cast<std::size_t>(b));
  }
  return scales_.view(b, 2);
}

/// s_j x_j in single precision, in `x_`. `scales_` holds s_j.
template <class Ctx>
BlockView<float, typename Ctx::Space> RoundedProducts<Ctx>::rounded(
    Ctx& context, ConstBlockView<double, Space> X) {
  const Index b = X.cols();
  reserve_columns(context, M_->rows(), b, x_);
  const BlockView<float, Space> x = x_.columns(0, b);
  convert<float, double>(context, X, scales_.view(b, 2).block(0, 0, b, 1), x);
  return x;
}

/// The products by the scales in `scales_`.
template <class Ctx>
auto RoundedProducts<Ctx>::scaled_product(Ctx& context, ConstBlockView<double, Space> X)
    -> ScaledView<float, Space> {
  const Index b = X.cols();
  if (const auto Y = M_->scaled_product(context, X, scales_.view(b, 2))) return *Y;
  const BlockView<float, Space> x = rounded(context, X);
  reserve_columns(context, M_->rows(), b, y_);
  const BlockView<float, Space> y = y_.columns(0, b);
  M_->apply(context, x, y);
  return {y, {}, scales_.view(b, 2).block(0, 1, b, 1)};
}

template <class Ctx>
Index RoundedProducts<Ctx>::suitable_degree(Ctx& context, ConstBlockView<double, Space> X,
                                            std::span<const double> energies) {
  const Index b = X.cols();
  norm_scales<double>(context, X, scales(context, b));
  const BlockView<float, Space> x = rounded(context, X);
  const SmallView<double, HostSpace> s{energies_.data(), b, 1, b};
  fetch(context, scales_.view(b, 2).block(0, 0, b, 1), s);
  for (Index j = 0; j < b; ++j) s(j, 0) *= s(j, 0) * energies[static_cast<std::size_t>(j)];
  return M_->variable_degree()->suitable_degree(context, x,
                                                {energies_.data(), static_cast<std::size_t>(b)});
}

template <class Ctx>
std::string refuse_single_precision(Ctx& context, CsrView<double, typename Ctx::Space> A) {
  constexpr double kSmallest = 0x1p-64;
  constexpr double kLargest = 0x1p64;
  HostContext beside(1);
  const Buffer<double, HostSpace> diagonal = fetch(context, beside, extract_diagonal(context, A));
  const auto fits = [](double entry) {
    const double size = std::abs(entry);
    return size == 0 || !std::isfinite(size) || (size >= kSmallest && size <= kLargest);
  };
  const double* const end = diagonal.data() + diagonal.size();
  const double* const found = std::find_if_not(diagonal.data(), end, fits);
  if (!context.agree(found != end)) return "";
  if (found == end) return "a diagonal entry in the rows of another process has no such size";
  const auto row = found - diagonal.data() + 1;
  return fmt::format(
      "diagonal entry ({0}, {0}) of the matrix is {1:g}, single precision needs a "
      "size from {2:.1e} to {3:.1e}",
      row, *found, kSmallest, kLargest);
}

#define HEDDLE_INSTANTIATE(Ctx)        \
  template class RoundedProducts<Ctx>; \
  template std::string refuse_single_precision(Ctx&, CsrView<double, typename Ctx::Space>);
HEDDLE_INSTANTIATE(HostContext)
#ifdef HEDDLE_HAS_CUDA
HEDDLE_INSTANTIATE(CudaContext)
#endif
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
