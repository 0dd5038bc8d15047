// A matrix that lies in the memory of a GPU already: the largest eigenvalues of a chain of n
// masses, 4 sin²(kπ/2(n+1)) for k = n, n − 1, … The matrix is not copied, and the vectors stay on
// the GPU.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <heddle/drivers/solve/solve_resident.hpp>
#include <memory>
#include <numbers>
#include <stdexcept>
#include <vector>

namespace {

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

struct Free {
  void operator()(void* pointer) const { cudaFree(pointer); }
};

template <class T>
using DeviceArray = std::unique_ptr<T, Free>;

/// A copy of `numbers` in the memory of the current GPU.
template <class T>
DeviceArray<T> on_device(const std::vector<T>& numbers) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, numbers.size() * sizeof(T)));
  DeviceArray<T> array(static_cast<T*>(memory));
  check(cudaMemcpy(memory, numbers.data(), numbers.size() * sizeof(T), cudaMemcpyHostToDevice));
  return array;
}

bool solve_chain(heddle::Device& device, std::int64_t n) {
  std::vector<std::int64_t> row_offsets = {0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = std::max<std::int64_t>(i - 1, 0); j <= std::min(i + 1, n - 1); ++j) {
      columns.push_back(static_cast<std::int32_t>(j));
      values.push_back(i == j ? 2.0 : -1.0);
    }
    row_offsets.push_back(static_cast<std::int64_t>(columns.size()));
  }
  const auto device_offsets = on_device(row_offsets);
  const auto device_columns = on_device(columns);
  const auto device_values = on_device(values);
  const heddle::CsrView<double, heddle::DeviceSpace> view{
      n, n, row_offsets.back(), device_offsets.get(), device_columns.get(), device_values.get()};
  const heddle::ResidentMatrix<double, heddle::CudaContext> A(view);
  const auto found = heddle::solve<double, heddle::CudaContext>(
      device, {.A = A}, {.nev = 3, .which = heddle::Which::largest});

  std::printf("%s\n", found.solution.reason.c_str());
  bool right = found.solution.status == heddle::SolveStatus::converged;
  for (std::size_t k = 0; k < found.solution.eigenvalues.size(); ++k) {
    const double sine =
        std::sin(std::numbers::pi * double(n - static_cast<std::int64_t>(k)) / double(2 * (n + 1)));
    const double error = std::abs(found.solution.eigenvalues[k] - 4 * sine * sine);
    std::printf("%.14f ± %.1e, error %.1e\n", found.solution.eigenvalues[k],
                found.solution.error_bounds[k], error);
    right = right && error <= found.solution.error_bounds[k];
  }
  return right;
}

}  // namespace

int main() {
  try {
    heddle::Device device(heddle::DeviceChoice::cuda);
    return solve_chain(device, 2000) ? 0 : 1;
  } catch (const heddle::DeviceError& error) {
    std::printf("This example needs a GPU: %s\n", error.what());
    return 77;
  }
}
