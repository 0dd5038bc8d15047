#pragma once

#include <heddle/linalg/context/context.hpp>
#include <heddle/spgemm/band.hpp>
#include <heddle/spgemm/hybrid.hpp>
#include <memory>
#include <span>

/// How a product of band matrices is shared between the host and a GPU. Source: Matam, Indarapu,
/// Kothapalli, Sparse Matrix-Matrix Multiplication on Modern Architectures, HiPC 2012, section 4.3.
namespace heddle {

/// The size of a product C = A B of band matrices.
struct BandWork {
  double multiplications = 0;  ///< R = rows of A · diagonals of A · diagonals of B
  double entries = 0;          ///< S = rows of C · diagonals of C
};

/// The time of a product on one side, in ms: per_multiplication·R + per_entry·S + latency.
struct BandCost {
  double per_multiplication = 0;  ///< the paper's α on the host, β on a GPU
  double per_entry = 0;           ///< the paper's γ on a GPU, whose results are copied to the host
  double latency = 0;             ///< what a product takes that does not grow with its size

  /// The part of the time that grows with the size, in ms.
  double slope(const BandWork& work) const noexcept {
    return per_multiplication * work.multiplications + per_entry * work.entries;
  }
  /// The time of a product, in ms.
  double ms(const BandWork& work) const noexcept { return slope(work) + latency; }
};

/// A product that took `ms`.
struct BandSample {
  BandWork work;  ///< the size of the product
  double ms = 0;  ///< its time
};

/// The coefficients, none of them negative, with the least sum of squares of relative errors.
/// Throws `InvalidArgument` without samples and for a time that is not positive.
BandCost fit_band_cost(std::span<const BandSample> samples);

/// The costs of both sides while the other one works too, and of each one alone. Both use the
/// memory of the host, so a side is slower while the other one works.
struct BandCosts {
  BandCost host;        ///< while the GPU works too
  BandCost gpu;         ///< while the host works too
  BandCost host_alone;  ///< while the GPU rests
  BandCost gpu_alone;   ///< while the host rests
};

/// The share t of the rows, 0 … 1, with which the host finishes when the GPU does: with
/// c = slope of the host and g = slope of the GPU, t c + latency_host = (1 − t) g + latency_gpu.
/// Without latencies and with host.per_entry = 0 it is the paper's (β R + γ S)/((α + β) R + γ S). A
/// bandwidth-bound host needs its per_entry, a small product the latencies. 1 or 0, one side alone,
/// unless sharing saves more than the latency of the side that joins the faster one and more than
/// the part `kLeastGain`. A joining side that takes up to twice its latency thus makes no product
/// slower.
double band_split(const BandCosts& costs, const BandWork& work) noexcept;

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

  /// The size of the product.
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
