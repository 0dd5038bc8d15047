#include <heddle/spmm/kernels/cuda/csrmm/csrmm_kernel.hpp>
#include <heddle/spmm/kernels/cuda/merge/merge_kernel.hpp>
#include <heddle/spmm/kernels/cuda/merge_path/merge_path_kernel.hpp>
#include <heddle/spmm/kernels/cuda/narrow_merge/narrow_merge_kernel.hpp>
#include <heddle/spmm/kernels/cuda/node_block/node_block_kernel.hpp>
#include <heddle/spmm/kernels/cuda/nonzero_parallel/nonzero_parallel_kernel.hpp>
#include <heddle/spmm/kernels/cuda/panel_mma/panel_mma_kernel.hpp>
#include <heddle/spmm/kernels/cuda/row_broadcast/row_broadcast_kernel.hpp>
#include <heddle/spmm/kernels/cuda/row_cached/row_cached_kernel.hpp>
#include <heddle/spmm/kernels/cuda/row_parallel/row_parallel_kernel.hpp>
#include <heddle/spmm/kernels/cuda/row_split/row_split_kernel.hpp>
#include <heddle/spmm/kernels/cuda/staged/staged_kernel.hpp>
#include <heddle/spmm/kernels/cuda/staged_mma/staged_mma_kernel.hpp>
#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail {
namespace {

/// In a build without CUDA, the rows of the table have names but no makers.
template <class Kernel>
KernelRow<DeviceSpace> row_of() {
#ifdef HEDDLE_HAS_CUDA
  return {Kernel::kTraits, Kernel::makers()};
#else
  return {Kernel::kTraits, {}};
#endif
}

}  // namespace

KernelTable<DeviceSpace>& cuda_kernel_table() {
  static KernelTable<DeviceSpace> table({
      row_of<cuda::RowSplitKernel>(),
      row_of<cuda::RowParallelKernel>(),
      row_of<cuda::RowCachedKernel>(),
      row_of<cuda::RowBroadcastKernel>(),
      row_of<cuda::CsrmmKernel>(),
      row_of<cuda::MergeKernel>(),
      row_of<cuda::MergePathKernel>(),
      row_of<cuda::NonzeroParallelKernel>(),
      row_of<cuda::NarrowMergeKernel>(),
      row_of<cuda::PanelMmaKernel>(),
      row_of<cuda::StagedKernel>(),
      row_of<cuda::StagedSegmentsKernel>(),
      row_of<cuda::StagedMmaKernel>(),
      row_of<cuda::NodeBlockKernel>(),
  });
  return table;
}

}  // namespace heddle::detail
