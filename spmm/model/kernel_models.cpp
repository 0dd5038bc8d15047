#include <heddle/spmm/model/kernel_models.hpp>

namespace heddle::detail {

// Fitted by bench/spmm_study/fit.py to one H200.
const std::vector<KernelModel>& kernel_models() {
  static const std::vector<KernelModel> models = {
      {"row_split", row_split_work, {0.897, 0.604, 0.854, 2.87, 0.11, 0.771, 0.411}},
      {"row_parallel", row_parallel_work, {0.878, 0.337, 0.766, 3.13, 0.279, 0.707, 1.04}},
      {"row_cached", row_cached_work, {1.35, 0.8, 1.44, 0.703, 1.38, 1.19, 0.823}},
      {"row_broadcast", row_broadcast_work, {1.35, 0.273, 2, 1.72, 0.937, 1.07, 1.79}},
      {"merge", merge_work, {1.68, 0.569, 1.61, 3.59, 0.149, 2.18, 0.0653}},
      {"merge_path", merge_path_work, {1.58, 0.569, 1.87, 1.45, 0.0156, 0.0964, 3.51}},
      {"nonzero_parallel", nonzero_parallel_work, {3.22, 0.392, 3.65, 2.47, 0.131, 0.534, 2.54}},
      {"narrow_merge", narrow_merge_work, {3.22, 0.285, 2.59, 1.72, 0.0312, 0.139, 2.59}},
      {"panel_mma", panel_mma_work, {1, 1.95, 2.94, 3.07, 0.878, 1.3, 1.27}},
      {"staged", staged_work, {0.738, 1.45, 1.33, 1.79, 1, 0.22, 3.08}},
      {"staged_mma", staged_mma_work, {1, 1.5, 1.5, 1.5, 1, 1, 1.3}},
      {"node_block", node_block_work, {1.54, 1.02, 1.72, 1.24, 0.663, 0.937, 1.24}},
  };
  return models;
}

}  // namespace heddle::detail
