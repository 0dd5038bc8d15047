#pragma once

#include <functional>
#include <heddle/apps/spgemm/format.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/spgemm/spgemm.hpp>
#include <string>
#include <vector>

/// Times the implementations of C = A B against each other.
namespace heddle::lab {

using apps::FormatChoice;

/// The times of one implementation. Each is the median of several runs after one that is not
/// counted.
struct SpgemmTiming {
  std::string name;       ///< "cpu", "gpu", "hybrid", "cusparse" or "column-row"
  double total_ms = 0;    ///< from A and B to C, all steps and allocations
  double inspect_ms = 0;  ///< the part of it that counts the entries of C. 0 if it has no such step
  double update_ms = 0;   ///< new values in a known pattern. 0 if there is no such step
  double peak_bytes =
      0;  ///< the most memory in use in addition to A and B for one product, C included
  double gpu_share = 0;  ///< hybrid: of the multiplications, from a sample
  double idle_ms = 0;    ///< hybrid: how long one side waits for the other one
  std::string failure;   ///< why there are no numbers, empty if there are
};

struct SpgemmComparisonOptions {
  bool cpu = true;
  bool gpu = true;
  bool hybrid = false;  ///< host and GPU at once, C in host memory
  bool cusparse = true;
  bool column_row = false;  ///< on a GPU by columns of A and rows of B
  int threads = 0;          ///< of the host, 0 for the default
};

/// One product and the times of all implementations that were asked for. An implementation that
/// this machine lacks or that fails is listed with the reason.
struct SpgemmComparison {
  SpgemmCounts counts;
  double product_bytes = 0;  ///< of C in its format
  std::string device;        ///< the name of the GPU, empty without one
  FormatChoice format;       ///< of cpu, gpu and hybrid
  double convert_ms = 0;     ///< of both factors to diagonals, once. 0 in compressed rows
  std::vector<SpgemmTiming> timings;

  /// Floating-point operations: two per multiplication.
  double flops() const noexcept { return 2 * static_cast<double>(counts.multiplications); }
};

/// The bytes of a matrix in compressed rows.
template <Scalar T>
double csr_bytes(Index rows, Index nnz) noexcept {
  return static_cast<double>(nnz) * (sizeof(T) + sizeof(std::int32_t)) +
         static_cast<double>(rows + 1) * sizeof(std::int64_t);
}

/// Compares the implementations. `format`: that of cpu, gpu and hybrid.
template <Scalar T>
SpgemmComparison compare_spgemm(CsrView<T, HostSpace> A, CsrView<T, HostSpace> B,
                                const SpgemmComparisonOptions& options, FormatChoice format = {});

/// Adds the timing of `work(timing)`, or the reason why it failed.
void add_timing(SpgemmComparison& comparison, std::string name,
                const std::function<void(SpgemmTiming&)>& work);

/// The work of an implementation that this build lacks: throws `DeviceError` with the reason.
void fail_without_cuda(SpgemmTiming& timing);

}  // namespace heddle::lab
