#pragma once

#include <heddle/spmm/kernels/kernel_table.hpp>

/// A host kernel that a test adds to the table: "row_by_row", one loop over rows that counts the
/// products it computes.
namespace heddle::test {

inline int& row_by_row_count() {
  static int count = 0;
  return count;
}

/// Products that the kernel has computed in this process.
inline int row_by_row_products() { return row_by_row_count(); }

template <class T>
class RowByRow : public detail::KernelPlan<T, HostSpace> {
 public:
  RowByRow(HostContext&, const detail::KernelMatrix<T, HostSpace>&) {}

  void run(HostContext&, const detail::SpmmProduct<T, HostSpace>& p) override {
    ++row_by_row_count();
    for (Index i = 0; i < p.A.rows; ++i) {
      for (Index j = 0; j < p.N; ++j) {
        T sum = 0;
        for (Index k = p.A.row_offsets[i]; k < p.A.row_offsets[i + 1]; ++k) {
          sum += p.A.values[k] * p.B[p.A.columns[k] * p.ldb + j];
        }
        T& c = p.C[i * p.ldc + j];
        c = p.beta == T{0} ? p.alpha * sum : p.alpha * sum + p.beta * c;
      }
    }
  }
};

struct RowByRowKernel {
  static constexpr detail::KernelTraits kTraits = {
      .name = "row_by_row", .description = "a loop over rows, for tests", .takes_complex = true};
};

/// Adds the kernel once per process.
inline void register_row_by_row() {
  auto& table = detail::host_kernel_table();
  if (table.find("row_by_row") != nullptr) return;
  table.add({.traits = RowByRowKernel::kTraits,
             .makers = detail::makers_of<RowByRowKernel, RowByRow, HostSpace>()});
}

}  // namespace heddle::test
