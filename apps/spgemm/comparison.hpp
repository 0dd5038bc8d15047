#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/spgemm/spgemm.hpp>
#include <string>
#include <vector>

/// Times the implementations of C = A B against each other.
namespace heddle::apps {

/// The times of one implementation. Each is the median of several runs after one that is not
/// counted.
struct SpgemmTiming {
  std::string name;       ///< "cpu", "gpu", "hybrid" or "cusparse"
  double total_ms = 0;    ///< from A and B to C, all steps and allocations
  double inspect_ms = 0;  ///< the part of it that counts the entries of C. 0 if it has no such step
  double update_ms = 0;   ///< new values in a known pattern. 0 if there is no such step
  double peak_bytes = 0;  ///< the most memory in use beside A and B, C included
  double gpu_share = 0;   ///< hybrid: of the multiplications, from a sample
  double idle_ms = 0;     ///< hybrid: how long one side waits for the other one
  std::string failure;    ///< why there are no numbers, empty if there are
};

struct SpgemmComparisonOptions {
  bool cpu = true;
  bool gpu = true;
  bool hybrid = false;  ///< host and GPU at once, C in host memory
  bool cusparse = true;
  int threads = 0;  ///< of the host, 0 for the default
};

/// One product and the times of all implementations that were asked for. An implementation that
/// this machine lacks or that fails is listed with the reason.
struct SpgemmComparison {
  SpgemmCounts counts;
  double product_bytes = 0;  ///< of C
  std::string device;        ///< the name of the GPU, empty without one
  std::vector<SpgemmTiming> timings;

  /// Floating-point operations: two per multiplication.
  double flops() const noexcept { return 2 * static_cast<double>(counts.multiplications); }
};

template <Scalar T>
SpgemmComparison compare_spgemm(CsrView<T, HostSpace> A, CsrView<T, HostSpace> B,
                                const SpgemmComparisonOptions& options);

}  // namespace heddle::apps
