#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <memory>

/// Products of sparse matrices by the host and a GPU at once.
/// Source: Matam, Indarapu, Kothapalli, HiPC 2012, section 4.
namespace heddle {

/// How a product was shared, and how long each side took.
struct HybridReport {
  double gpu_share = 0;  ///< of the multiplications
  Index gpu_rows = 0;    ///< rows 0 … gpu_rows − 1 of C
  double gpu_ms = 0;     ///< with the copy of its rows to the host
  double cpu_ms = 0;     ///< of the other rows

  /// How long the faster side waited for the other one.
  double idle_ms() const noexcept { return gpu_ms > cpu_ms ? gpu_ms - cpu_ms : cpu_ms - gpu_ms; }
};

/// C = A B in host memory. The first rows of C are computed on a GPU, the others on the host, both
/// at the same time. The entries have the bits of `SpgemmPlan::multiply` of the side that computes
/// them.
template <Scalar T>
class HybridSpgemm {
 public:
  /// Copies A and B to the GPU. A and B must outlive this object, and so must the contexts. Throws
  /// `InvalidArgument` if the shapes do not fit, `OutOfMemory`.
  HybridSpgemm(CudaContext& gpu, HostContext& host, CsrView<T, HostSpace> A,
               CsrView<T, HostSpace> B);
  ~HybridSpgemm();
  HybridSpgemm(const HybridSpgemm&) = delete;
  HybridSpgemm& operator=(const HybridSpgemm&) = delete;

  /// The GPU gets the first rows that have `gpu_share` of all multiplications, between 0 and 1, as
  /// far as whole rows allow (the paper's heuristic I, with a share known beforehand). Of C at most
  /// `device_bytes` are in the GPU's memory at a time. The result lies in page-locked memory of
  /// this object, which the next product overwrites. Throws `InvalidArgument` for another share,
  /// and as `spgemm_to_host` does.
  CsrView<T, HostSpace> multiply(double gpu_share, std::size_t device_bytes, HybridReport& report);

  /// The share of the GPU with which both sides should finish together, or 0 or 1 if one side alone
  /// should be about as fast (the paper's heuristic II, t_c/(t_c + t_g) for the times t_c of the
  /// host and t_g of the GPU, with latencies and with both sides at work). The times come from rows
  /// all over A that have the part `sample` of the multiplications, and a quarter of it. A share
  /// that these propose is compared with the faster side by whole products, where that takes no
  /// longer.
  double measure_share(double sample, std::size_t device_bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle
