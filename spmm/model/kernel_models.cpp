#include <heddle/spmm/model/kernel_models.hpp>

namespace heddle::detail {

const std::vector<KernelModel>& kernel_models() {
  static const std::vector<KernelModel> models = {
      {"row_split", row_split_work, {1, 1, 1, 1, 1, 1}},
      {"row_parallel", row_parallel_work, {1, 1, 1, 1, 1, 1}},
      {"row_cached", row_cached_work, {1, 1, 1, 1, 1, 1}},
      {"row_broadcast", row_broadcast_work, {1, 1, 1, 1, 1, 1}},
      {"merge", merge_work, {1, 1, 1, 1, 1, 1}},
      {"merge_path", merge_path_work, {1, 1, 1, 1, 1, 1}},
      {"nonzero_parallel", nonzero_parallel_work, {1, 1, 1, 1, 1, 1}},
      {"panel_mma", panel_mma_work, {1, 1, 1, 1, 1, 1}},
      {"staged", staged_work, {1, 1, 1, 1, 1, 1}},
      {"node_block", node_block_work, {1, 1, 1, 1, 1, 1}},
  };
  return models;
}

}  // namespace heddle::detail
