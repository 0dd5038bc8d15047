#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <string>
#include <vector>

namespace heddle::lab {

/// One way to compute a product, and its time.
struct CaseLine {
  std::string family;  ///< heddle, csr, bsr, ell or dense
  std::string name;
  double microseconds = 0;  ///< 0: failed
  bool graph = true;        ///< timed as a CUDA graph
  double error = 0;  ///< largest over sampled entries, relative to Σ|a||b|; −1: not compared
  std::string failure;
};

/// heddle's product with the rows, or rows and columns, of A in one order.
struct OrderLine {
  Index blocks = 0;         ///< 16×16
  double deviation = 0;     ///< of the blocks per block row
  double found_in = 0;      ///< seconds
  double microseconds = 0;  ///< of a product
};

/// The times of C = A B for one A and one N.
struct CaseResult {
  std::string matrix;
  Index rows = 0;
  Index nnz = 0;
  Index N = 0;
  std::vector<CaseLine> lines;
  std::vector<OrderLine> orders;  ///< natural, rows, rows and columns, as far as they were tried

  /// The shortest time of a family whose name begins so. 0: none.
  double best(const std::string& family, const std::string& name = "") const;
  double best_cusparse() const;
  /// best_cusparse() over heddle's best with B in half precision.
  double ratio() const;
};

struct CaseOptions {
  Index most_clustered = 60'000'000;  ///< entries
  std::vector<std::string> opponents = {"csr", "bsr", "ell", "dense"};
  bool dense = false;  ///< also cuBLAS with a dense matrix
};

/// Times all ways and compares entries of C with sums in double precision.
CaseResult measure_case(CudaContext& context, HostContext& host, const std::string& name,
                        const CsrView<float, HostSpace>& A, Index N, const CaseOptions& options);

/// The pattern of A with random values in [−1, 1].
HostCsrMatrix<float> with_random_values(HostContext& host, const CsrView<double, HostSpace>& A);

/// The n×n matrix with all entries |i − j| ≤ half_width, values in [−1, 1].
HostCsrMatrix<float> band(HostContext& host, Index n, Index half_width);

double geometric_mean(const std::vector<double>& values);

/// As in figure 3 of SMaT, in Markdown: blocks per order, seconds for the orders, and after how
/// many products the fastest one pays.
std::string orders_head();
std::string orders_line(const CaseResult& result);

std::string table_head();
std::string table_line(const CaseResult& result);

}  // namespace heddle::lab
