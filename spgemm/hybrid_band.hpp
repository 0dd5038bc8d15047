#pragma once

#include <heddle/spgemm/band.hpp>
#include <heddle/spgemm/band_split.hpp>
#include <heddle/spgemm/hybrid.hpp>
#include <memory>

namespace heddle {

/// C = A B of band matrices in diagonal format, with C in host memory. The first rows of C are
/// computed on a GPU and copied, the others on the host, both at the same time. The entries have
/// the bits of `BandPlan` of the side that computes them.
template <Scalar T>
class HybridBand {
 public:
  /// Copies A and B to the GPU and allocates C in the memory of both. The contexts, A and B must
  /// outlive this object. Throws `InvalidArgument` if the shapes do not fit, `OutOfMemory`.
  HybridBand(CudaContext& gpu, HostContext& host, const HostDiaMatrix<T>& A,
             const HostDiaMatrix<T>& B);
  ~HybridBand();
  HybridBand(const HybridBand&) = delete;
  HybridBand& operator=(const HybridBand&) = delete;

  BandWork work() const noexcept;

  /// C = A B, of which the host computes the share `host_share` of the rows, 0 … 1, up to multiples
  /// of 32 rows. `report.gpu_share` is that of the rows. Throws `InvalidArgument` for another
  /// share.
  const HostDiaMatrix<T>& multiply(double host_share, HybridReport& report);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The costs of products of band matrices with about `rows` rows in the precision T, from products
/// of bands of two to six diagonals on each side alone and on both. They depend on the rows,
/// because small matrices stay in the host's caches. Takes as long as some hundred products, and
/// at least .07 s. Throws `InvalidArgument` for a number of rows that is not positive,
/// `OutOfMemory`.
template <Scalar T>
BandCosts measure_band_costs(CudaContext& gpu, HostContext& host, Index rows);

}  // namespace heddle
