#pragma once

#include <heddle/linalg/context/context.hpp>
#include <heddle/linalg/small/dense_eigen.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <memory>

namespace heddle {
namespace detail {

/// The standard problem of large orders on a device, for matrices in host memory.
template <WideScalar W>
class DeviceEigensolver {
 public:
  /// From this order on, the device takes less time, transfers included (one H200 beside its host).
  static constexpr Index kLeastOrder = 144;

  virtual ~DeviceEigensolver() = default;

  /// H Z = Z diag(θ), ZᴴZ = I, θ ascending. H is finite. Waits for the device. Returns false if the
  /// iteration did not converge.
  virtual bool compute(ConstSmallView<W, HostSpace> H, SmallView<double, HostSpace> theta,
                       SmallView<W, HostSpace> Z) = 0;
};

}  // namespace detail

/// The memory of a `DenseSolverOf`.
template <WideScalar W>
struct DenseSolverOf<W>::State {
  explicit State(Index max_order) : context(1), work(context, max_order, max_order) {}

  HostContext context;
  SmallMatrix<W, HostSpace> work;
  HostEigensolver<W> eigensolver;
  /// Null: the host solves all orders.
  std::unique_ptr<detail::DeviceEigensolver<W>> device;
};

}  // namespace heddle
