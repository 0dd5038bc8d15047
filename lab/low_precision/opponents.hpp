#pragma once

#include <functional>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/linalg/precision/narrow_float.hpp>
#include <heddle/spmm/blocked/block_counts.hpp>
#include <memory>
#include <string>
#include <vector>

/// Products in half precision by NVIDIA's libraries, sums in single precision.
namespace heddle::lab {

/// B and C in device memory. B has the same bits for every opponent: entry (i, j) at i·N + j by
/// rows, or at j·rows + i by columns.
struct Blocks {
  const Half* B;
  void* C;          ///< room for rows_of_C·N floats
  Index rows_of_B;  ///< what may be read, at least A.cols
  Index rows_of_C;  ///< what may be written, at least A.rows
  Index N;
};

/// One way to compute C = A B. `multiply` queues it.
struct Opponent {
  std::string name;  ///< algorithm, layout and type of C
  bool by_columns;   ///< the layout of B and C
  bool half_result;  ///< C in half precision, else single
  Index rows_of_B;   ///< with padding
  Index rows_of_C;
  std::function<void()> multiply;
  std::string failure;  ///< why it cannot be used, empty if it can
};

/// cuSPARSE with A in compressed rows: algorithms 1 to 3, either layout, either type of C.
std::vector<Opponent> csr_opponents(CudaContext& context, HostContext& host,
                                    const CsrView<float, HostSpace>& A, const Blocks& blocks);

/// cuSPARSE with A in blocks of this size and in this order: block compressed rows or Blocked-ELL.
std::vector<Opponent> bsr_opponents(CudaContext& context, HostContext& host,
                                    const CsrView<float, HostSpace>& A, Index size,
                                    const BlockOrder& order, const Blocks& blocks);
std::vector<Opponent> ell_opponents(CudaContext& context, HostContext& host,
                                    const CsrView<float, HostSpace>& A, Index size,
                                    const BlockOrder& order, const Blocks& blocks);

/// cuBLAS with a dense A of this many rows and columns.
std::vector<Opponent> dense_opponents(CudaContext& context, Index rows, Index cols,
                                      const Blocks& blocks);

}  // namespace heddle::lab
