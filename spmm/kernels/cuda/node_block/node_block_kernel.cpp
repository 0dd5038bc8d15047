#include <algorithm>
#include <heddle/spmm/kernels/cuda/node_block/launch_node_block.hpp>
#include <heddle/spmm/kernels/cuda/node_block/node_block_kernel.hpp>

namespace heddle::detail::cuda {
namespace {

template <class T>
class NodeBlockPlan : public KernelPlan<T, DeviceSpace> {
 public:
  NodeBlockPlan(CudaContext& context, const KernelMatrix<T, DeviceSpace>& matrix)
      : rows_(context, matrix.A, std::max(matrix.features.node_size, kSmallestNode)) {}

  void run(CudaContext& context, const SpmmProduct<T>& product) override {
    launch_node_block(product, rows_, context);
  }

 private:
  NodeRows<T> rows_;
};

}  // namespace

KernelMakers<DeviceSpace> NodeBlockKernel::makers() {
  return makers_of<NodeBlockPlan, DeviceSpace>();
}

}  // namespace heddle::detail::cuda
