#pragma once

#include <gtest/gtest.h>

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/spmm/kernels/kernel_table.hpp>
#include <heddle/spmm/spmm.hpp>
#include <memory>
#include <string>
#include <vector>

#include "spmm/plan/product_case.hpp"
#include "support/matrices.hpp"

/// Products of test matrices on a GPU, by every kernel.
namespace heddle::test {

inline constexpr Index kWidths[] = {1, 2, 3, 4, 8, 12, 16, 24, 31, 32, 33, 64, 100, 128, 200};

template <class T>
Buffer<T, DeviceSpace> upload(CudaContext& context, const std::vector<T>& host) {
  Buffer<T, DeviceSpace> device(context, host.size());
  if (!host.empty()) context.copy_to_device(device.data(), host.data(), host.size() * sizeof(T));
  return device;
}

/// The scalar types of matrices on a GPU.
using SpmmScalars = testing::Types<float, double, std::complex<double>>;

/// A test matrix in device memory.
template <class T>
class DeviceMatrix {
 public:
  DeviceMatrix(CudaContext& context, const TestMatrix<T>& A)
      : rows_(A.rows),
        cols_(A.cols),
        nnz_(static_cast<Index>(A.columns.size())),
        offsets_(upload(context, A.offsets)),
        columns_(upload(context, A.columns)),
        values_(upload(context, A.values)) {}

  CsrView<T, DeviceSpace> view() const {
    return {rows_, cols_, nnz_, offsets_.data(), columns_.data(), values_.data()};
  }

 private:
  Index rows_;
  Index cols_;
  Index nnz_;
  Buffer<std::int64_t, DeviceSpace> offsets_;
  Buffer<std::int32_t, DeviceSpace> columns_;
  Buffer<T, DeviceSpace> values_;
};

/// A product to compute with a plan.
template <class T>
class Case : public test::ProductCase<T> {
 public:
  using test::ProductCase<T>::ProductCase;

  /// All memory of C after the plan's product.
  std::vector<T> multiply(CudaContext& context, const SpmmPlan<T, CudaContext>& plan) {
    const Buffer<T, DeviceSpace> B = upload(context, this->B());
    Buffer<T, DeviceSpace> C = upload(context, this->C());
    plan.multiply(context, this->alpha(), this->B_in(B), this->beta(), this->C_in(C));
    std::vector<T> result(this->C().size());
    if (!result.empty()) {
      context.copy_to_host(result.data(), C.data(), result.size() * sizeof(T));
    }
    return result;
  }
};

/// Those kernels of the table for CUDA that multiply matrices of values of T.
template <class T>
std::vector<std::string> kernels_for() {
  std::vector<std::string> names;
  for (const auto& row : detail::cuda_kernel_table().rows()) {
    if (row.template takes<T>()) names.emplace_back(row.traits.name);
  }
  return names;
}

/// Those of `names` that are among them.
template <class T>
std::vector<std::string> kernels_for(const std::vector<std::string>& names) {
  std::vector<std::string> those;
  for (const std::string& name : names) {
    const auto* row = detail::cuda_kernel_table().find(name);
    if (row != nullptr && row->template takes<T>()) those.push_back(name);
  }
  return those;
}

/// The ways of choice, and the kernels.
template <class T>
std::vector<std::string> all_kernels() {
  std::vector<std::string> names = {"auto", "rule", "rule_row_mean", "measure"};
  for (const std::string& name : kernels_for<T>()) names.push_back(name);
  return names;
}

template <class T>
class SpmmCuda : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = cuda_unavailable_reason();
    if (!reason.empty()) GTEST_SKIP() << "no GPU: " << reason;
    context_ = std::make_unique<CudaContext>();
  }

  CudaContext& context() { return *context_; }

  /// Every kernel, all widths, layouts that are aligned, dense and neither, and the scalings that
  /// take different paths.
  void expect_products(const TestMatrix<T>& A) {
    const DeviceMatrix<T> device(context(), A);
    const auto kernels = all_kernels<T>();
    std::vector<SpmmPlan<T, CudaContext>> plans;
    for (const std::string& name : kernels) {
      plans.emplace_back(context(), device.view(), SpmmOptions{name});
    }
    const auto expect = [&](Index N, Layout layout, T alpha, T beta) {
      Case<T> product(A, N, layout, alpha, beta);
      for (std::size_t k = 0; k < kernels.size(); ++k) {
        const std::string what =
            kernels[k] + ", " + std::to_string(A.rows) + "x" + std::to_string(A.cols) + ", N " +
            std::to_string(N) + ", left " + std::to_string(layout.left) + ", right " +
            std::to_string(layout.right) + ", alpha " + text_of(alpha) + ", beta " + text_of(beta);
        product.expect(product.multiply(context(), plans[k]), what);
        if (this->HasFatalFailure()) return;
      }
    };
    for (const Index N : kWidths) {
      const auto width = static_cast<Index>(16 / sizeof(T));
      const Index padding = (width - N % width) % width;
      expect(N, {0, padding}, T{1}, T{0});
      expect(N, {4, 4 + padding}, number<T>(-0.7, 0.6), number<T>(1.3, -0.4));
      expect(N, {3, 2}, T{1}, T{1});
      expect(N, {0, 0}, T{2}, T{0});
      if (this->HasFatalFailure()) return;
    }
  }

 private:
  std::unique_ptr<CudaContext> context_;
};

}  // namespace heddle::test
