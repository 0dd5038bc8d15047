#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/row_maxima.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/block_checks.hpp>

namespace heddle {
namespace {

constexpr Index kMinSlabRows = 512;

}  // namespace

template <Scalar T>
void row_maxima(HostContext& context, ConstBlockView<T, HostSpace> X, double power,
                BlockView<T, HostSpace> y) {
  require_same_shape("row_maxima", ConstBlockView<T, HostSpace>(X.data(), X.rows(), 1, X.ld()),
                     ConstBlockView<T, HostSpace>(y));
  if (X.empty()) return;
  const Slabs slabs = make_slabs(X.rows(), kMinSlabRows);
  parallel_for(context.threads(), slabs.count(), [&](Index slab) {
    for (Index i = slabs.begin(slab); i < slabs.end(slab); ++i) {
      RealOf<T> largest = 0;
      for (Index j = 0; j < X.cols(); ++j) largest = std::max(largest, std::abs(X(i, j)));
      const double root = largest > 0 ? std::pow(static_cast<double>(largest), power) : 0;
      y(i, 0) = static_cast<RealOf<T>>(root);
    }
  });
  context.profile().count(bytes(X) + bytes<T, HostSpace>(y), entries(X));
}

#define HEDDLE_INSTANTIATE(T)                                                  \
  template void row_maxima(HostContext&, ConstBlockView<T, HostSpace>, double, \
                           BlockView<T, HostSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
