#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/linalg/sparse/device_sort.hpp>
#include <heddle/spgemm/plan/product_checks.hpp>
#include <heddle/spgemm/spgemm.hpp>
#include <limits>
#include <string>

namespace heddle {
namespace {

using detail::DeviceIntegers;
using detail::grid_for;
using detail::thread_count;
using detail::thread_index;

/// All terms a_ik b_kj in the order of k.
template <class T>
struct Terms {
  std::int32_t* rows = nullptr;
  std::int32_t* columns = nullptr;
  T* values = nullptr;
};

/// counts[k] ← terms of column k of A and row k of B.
template <class T>
__global__ void count_terms_kernel(CsrView<T, DeviceSpace> At, CsrView<T, DeviceSpace> B,
                                   Index* counts) {
  for (Index k = thread_index(); k < At.rows; k += thread_count()) {
    counts[k] =
        (At.row_offsets[k + 1] - At.row_offsets[k]) * (B.row_offsets[k + 1] - B.row_offsets[k]);
  }
}

/// Writes one term per step. `begins`: the terms before those of each k.
template <class T>
__global__ void expand_kernel(CsrView<T, DeviceSpace> At, CsrView<T, DeviceSpace> B,
                              const Index* begins, Index total, Terms<T> terms) {
  for (Index t = thread_index(); t < total; t += thread_count()) {
    const Index k = detail::count_below(begins, At.rows + 1, t + 1) - 1;
    const Index length = B.row_offsets[k + 1] - B.row_offsets[k];
    const Index a = At.row_offsets[k] + (t - begins[k]) / length;
    const Index b = B.row_offsets[k] + (t - begins[k]) % length;
    terms.rows[t] = At.columns[a];
    terms.columns[t] = B.columns[b];
    terms.values[t] = At.values[a] * B.values[b];
  }
}

__global__ void count_up_kernel(std::int32_t* numbers, Index count) {
  for (Index t = thread_index(); t < count; t += thread_count()) {
    numbers[t] = static_cast<std::int32_t>(t);
  }
}

__global__ void gather_kernel(const std::int32_t* from, const std::int32_t* order, Index count,
                              std::int32_t* to) {
  for (Index t = thread_index(); t < count; t += thread_count()) to[t] = from[order[t]];
}

/// heads[s] ← whether the sorted term s is the first one of its entry of C.
__global__ void mark_heads_kernel(const std::int32_t* sorted_rows, const std::int32_t* columns,
                                  const std::int32_t* order, Index count, Index* heads) {
  for (Index s = thread_index(); s < count; s += thread_count()) {
    heads[s] = s == 0 || sorted_rows[s] != sorted_rows[s - 1] ||
               columns[order[s]] != columns[order[s - 1]];
  }
}

/// Sums the terms of each entry of C. `places`: the heads before each sorted term.
template <class T>
__global__ void compress_kernel(const std::int32_t* order, const Index* places, Index count,
                                Terms<T> terms, std::int32_t* columns, T* values) {
  for (Index s = thread_index(); s < count; s += thread_count()) {
    const Index place = places[s];
    if (places[s + 1] == place) continue;
    T sum = terms.values[order[s]];
    for (Index n = s + 1; n < count && places[n + 1] == place + 1; ++n) {
      sum += terms.values[order[n]];
    }
    columns[place] = terms.columns[order[s]];
    values[place] = sum;
  }
}

/// offsets[i] ← places[offsets[i]]: entries instead of terms.
__global__ void offsets_kernel(const Index* places, Index count, Index* offsets) {
  for (Index i = thread_index(); i < count; i += thread_count()) offsets[i] = places[offsets[i]];
}

/// Launches a kernel with a thread per item, or several items per thread.
template <class Kernel, class... Arguments>
void launch(CudaContext& context, Kernel kernel, Index items, const Arguments&... arguments) {
  kernel<<<grid_for(context, items), kThreads, 0, context.stream()>>>(arguments...);
  check_launch();
}

/// The order of the terms by row and column, of equal ones by k. `sorted_rows` ← their rows.
DeviceIntegers sort_terms(CudaContext& context, const std::int32_t* rows,
                          const std::int32_t* columns, Index cols, Index last_row,
                          DeviceIntegers& sorted_rows) {
  const auto count = static_cast<Index>(sorted_rows.size());
  DeviceIntegers order(context, sorted_rows.size());
  launch(context, count_up_kernel, count, order.data(), count);
  check(cudaMemcpyAsync(sorted_rows.data(), columns, sorted_rows.size() * sizeof(std::int32_t),
                        cudaMemcpyDeviceToDevice, context.stream()));
  detail::sort_pairs(context, cols - 1, sorted_rows, order);
  launch(context, gather_kernel, count, rows, order.data(), count, sorted_rows.data());
  detail::sort_pairs(context, last_row, sorted_rows, order);
  return order;
}

template <class T>
CsrMatrix<T, DeviceSpace> without_entries(CudaContext& context, Index rows, Index cols) {
  CsrMatrix<T, DeviceSpace> C(context, rows, cols, 0);
  check(cudaMemsetAsync(C.row_offsets(), 0, static_cast<std::size_t>(rows + 1) * sizeof(Index),
                        context.stream()));
  return C;
}

}  // namespace

template <Scalar T>
CsrMatrix<T, DeviceSpace> spgemm_column_row(CudaContext& context, CsrView<T, DeviceSpace> A,
                                            CsrView<T, DeviceSpace> B) {
  detail::require_factors(A, B);
  if (A.nnz == 0 || B.nnz == 0) return without_entries<T>(context, A.rows, B.cols);
  const CsrMatrix<T, DeviceSpace> At = transpose<T>(context, A);
  Buffer<Index, DeviceSpace> begins(context, static_cast<std::size_t>(A.cols) + 1);
  launch(context, count_terms_kernel<T>, A.cols, At.view(), B, begins.data());
  const Index total = detail::exclusive_sum(context, begins.data(), A.cols + 1);
  if (total > std::numeric_limits<std::int32_t>::max()) {
    throw InvalidArgument("C = A B by columns and rows writes all " + std::to_string(total) +
                          " terms down, at most " +
                          std::to_string(std::numeric_limits<std::int32_t>::max()) +
                          " can be sorted; multiply row by row");
  }
  if (total == 0) return without_entries<T>(context, A.rows, B.cols);
  const auto count = static_cast<std::size_t>(total);
  DeviceIntegers rows(context, count);
  DeviceIntegers columns(context, count);
  Buffer<T, DeviceSpace> values(context, count);
  const Terms<T> terms{rows.data(), columns.data(), values.data()};
  launch(context, expand_kernel<T>, total, At.view(), B, begins.data(), total, terms);
  DeviceIntegers sorted_rows(context, count);
  const DeviceIntegers order =
      sort_terms(context, terms.rows, terms.columns, B.cols, A.rows - 1, sorted_rows);
  Buffer<Index, DeviceSpace> places(context, count + 1);
  launch(context, mark_heads_kernel, total, sorted_rows.data(), terms.columns, order.data(), total,
         places.data());
  const Index nnz = detail::exclusive_sum(context, places.data(), total + 1);
  CsrMatrix<T, DeviceSpace> C(context, A.rows, B.cols, nnz);
  detail::group_begins(context, sorted_rows, A.rows, C.row_offsets());
  launch(context, offsets_kernel, A.rows + 1, places.data(), A.rows + 1, C.row_offsets());
  launch(context, compress_kernel<T>, total, order.data(), places.data(), total, terms, C.columns(),
         C.values());
  return C;
}

#define HEDDLE_INSTANTIATE(T)                                                                 \
  template CsrMatrix<T, DeviceSpace> spgemm_column_row(CudaContext&, CsrView<T, DeviceSpace>, \
                                                       CsrView<T, DeviceSpace>);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
