#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/linalg/small/real_form.hpp>

namespace heddle::detail {
namespace {

using Complex = std::complex<double>;

/// An entry of a small matrix in device memory.
template <class T>
__device__ T& at(const SmallView<T, DeviceSpace>& M, Index i, Index j) {
  return M.data[i + j * M.ld];
}
template <class T>
__device__ const T& at(const ConstSmallView<T, DeviceSpace>& M, Index i, Index j) {
  return M.data[i + j * M.ld];
}

struct FoldedProduct {
  ConstSmallView<double, DeviceSpace> parts;
  SmallView<Complex, DeviceSpace> G;
  __device__ void operator()(Index i, Index j) const {
    at(G, i, j) = {at(parts, 2 * i, 2 * j) + at(parts, 2 * i + 1, 2 * j + 1),
                   at(parts, 2 * i, 2 * j + 1) - at(parts, 2 * i + 1, 2 * j)};
  }
};

struct RealForm {
  ConstSmallView<Complex, DeviceSpace> C;
  SmallView<double, DeviceSpace> R;
  __device__ void operator()(Index i, Index j) const {
    const Complex c = at(C, i, j);
    at(R, 2 * i, 2 * j) = at(R, 2 * i + 1, 2 * j + 1) = c.real();
    at(R, 2 * i, 2 * j + 1) = c.imag();
    at(R, 2 * i + 1, 2 * j) = -c.imag();
  }
};

struct FromRealForm {
  ConstSmallView<double, DeviceSpace> R;
  SmallView<Complex, DeviceSpace> C;
  __device__ void operator()(Index i, Index j) const {
    at(C, i, j) = {at(R, 2 * i, 2 * j), at(R, 2 * i, 2 * j + 1)};
  }
};

struct FoldedSum {
  ConstSmallView<double, DeviceSpace> parts;
  SmallView<double, DeviceSpace> values;
  __device__ void operator()(Index j, Index) const {
    at(values, j, 0) = at(parts, 2 * j, 0) + at(parts, 2 * j + 1, 0);
  }
};

struct FoldedNorm {
  ConstSmallView<double, DeviceSpace> parts;
  SmallView<double, DeviceSpace> norms;
  __device__ void operator()(Index j, Index) const {
    at(norms, j, 0) = hypot(at(parts, 2 * j, 0), at(parts, 2 * j + 1, 0));
  }
};

struct Twice {
  ConstSmallView<double, DeviceSpace> values;
  SmallView<double, DeviceSpace> twice;
  __device__ void operator()(Index j, Index) const {
    at(twice, 2 * j, 0) = at(twice, 2 * j + 1, 0) = at(values, j, 0);
  }
};

template <class Entry>
__global__ void entries_kernel(Index rows, Index count, Entry entry) {
  const Index e = Index{blockIdx.x} * kThreads + threadIdx.x;
  if (e < count) entry(e % rows, e / rows);
}

/// Calls entry(i, j) for the entries of a small rows×cols matrix, a thread each.
template <class Entry>
void for_each_entry(CudaContext& context, Index rows, Index cols, const Entry& entry) {
  const Index count = rows * cols;
  if (count == 0) return;
  const auto blocks = static_cast<unsigned>(ceil_div<Index>(count, kThreads));
  entries_kernel<<<blocks, kThreads, 0, context.stream()>>>(rows, count, entry);
  check_launch();
}

}  // namespace

void fold_gram(CudaContext& context, ConstSmallView<double, DeviceSpace> parts,
               SmallView<Complex, DeviceSpace> G) {
  for_each_entry(context, G.rows, G.cols, FoldedProduct{parts, G});
}

void write_real_form(CudaContext& context, ConstSmallView<Complex, DeviceSpace> C,
                     SmallView<double, DeviceSpace> R) {
  for_each_entry(context, C.rows, C.cols, RealForm{C, R});
}

void read_real_form(CudaContext& context, ConstSmallView<double, DeviceSpace> R,
                    SmallView<Complex, DeviceSpace> C) {
  for_each_entry(context, C.rows, C.cols, FromRealForm{R, C});
}

void fold_sums(CudaContext& context, ConstSmallView<double, DeviceSpace> parts,
               SmallView<double, DeviceSpace> values) {
  for_each_entry(context, values.rows, 1, FoldedSum{parts, values});
}

void fold_norms(CudaContext& context, ConstSmallView<double, DeviceSpace> parts,
                SmallView<double, DeviceSpace> norms) {
  for_each_entry(context, norms.rows, 1, FoldedNorm{parts, norms});
}

void write_twice(CudaContext& context, ConstSmallView<double, DeviceSpace> values,
                 SmallView<double, DeviceSpace> twice) {
  for_each_entry(context, values.rows, 1, Twice{values, twice});
}

}  // namespace heddle::detail
