#include <heddle/spmm/kernels/host/reference/reference_kernel.hpp>
#include <heddle/spmm/kernels/host/row_split/row_split_kernel.hpp>
#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail {
namespace {

template <class Kernel>
KernelRow<HostSpace> row_of() {
  return {Kernel::kTraits, Kernel::makers()};
}

}  // namespace

KernelTable<HostSpace>& host_kernel_table() {
  static KernelTable<HostSpace> table({row_of<RowSplitKernel>(), row_of<ReferenceKernel>()});
  return table;
}

}  // namespace heddle::detail
