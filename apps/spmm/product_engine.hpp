#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/spmm/low_precision/precision.hpp>
#include <string>
#include <vector>

/// How heddle-spmm computes a product, in the memory of a `HostContext` or a `CudaContext`.
namespace heddle::apps {

/// C = A B in host memory, and how it came about.
template <Scalar T>
struct ComputedProduct {
  double setup_seconds = 0;  ///< the plan of A, and copies to a GPU
  double seconds = 0;        ///< of the product; on a GPU, of the second one
  std::string kernel;        ///< its name, and why; empty in short number types on the host
  std::string reason;
  std::string order;  ///< of A's rows and columns in blocks; empty: not in blocks
  MultiVector<T, HostSpace> C;
  std::vector<std::int32_t> row_exponents;  ///< A's rows were scaled by these powers of two
  std::vector<std::int32_t> column_exponents;
};

struct PlainOptions {
  std::string kernel;       ///< `SpmmOptions::kernel`
  bool by_columns = false;  ///< B and C are stored by columns for the product
};

/// In the precision of A and B. Throws `InvalidArgument` for an unknown kernel, `OutOfMemory`,
/// `DeviceError`.
template <Scalar T, class Ctx>
ComputedProduct<T> plain_product(Ctx& context, HostContext& host, HostCsrMatrix<T> A,
                                 MultiVector<T, HostSpace> B, const PlainOptions& options);

struct NarrowOptions {
  std::string kernel = "auto";  ///< on a GPU: `LowPrecisionOptions::kernel`
  RangeScaling scaling = RangeScaling::powers_of_two;
  /// On a GPU: A in the order that is predicted to be the fastest. Else in the natural one.
  bool fastest_order = false;
  bool by_columns = false;  ///< B is handed to the product by columns
};

/// With A and B rounded to V; on a GPU on tensor cores. Throws `InvalidArgument` for values that V
/// cannot take, `OutOfMemory`, `DeviceError`.
template <class V, class Ctx>
ComputedProduct<float> narrow_product(Ctx& context, HostContext& host, CsrView<double, HostSpace> A,
                                      MultiVector<double, HostSpace> B,
                                      const NarrowOptions& options);

}  // namespace heddle::apps
