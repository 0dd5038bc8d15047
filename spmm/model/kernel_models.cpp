#include <heddle/spmm/model/kernel_models.hpp>

namespace heddle::detail {

// Fitted by bench/spmm_study/fit.py to one H100 and one H200.
const std::vector<KernelModel>& kernel_models() {
  static const std::vector<KernelModel> models = {
      {"row_split", row_split_work, {0.951, 0.818, 0.841, 2.43, 0.0178, 0.723, 0.5}},
      {"row_parallel", row_parallel_work, {0.917, 0.8, 0.0771, 2.81, 0.771, 0.267, 0.5}},
      {"row_cached", row_cached_work, {1.14, 1.04, 0.519, 1.57, 1.35, 1.19, 0.5}},
      {"row_broadcast", row_broadcast_work, {1.24, 0.8, 1.96, 1.35, 1.02, 1.07, 1.45}},
      {"merge", merge_work, {1.48, 0.931, 1.35, 3.49, 0.0667, 1.61, 0.723}},
      {"merge_path", merge_path_work, {1.38, 0.911, 0.937, 2.83, 0.0586, 2.83, 0.608}},
      {"nonzero_parallel", nonzero_parallel_work, {2.65, 0.8, 3.59, 2.48, 0.261, 0.663, 1.72}},
      {"narrow_merge", narrow_merge_work, {2.13, 0.8, 2.71, 2.33, 0.0625, 0.234, 1.83}},
      {"panel_mma", panel_mma_work, {1.22, 1.87, 2.77, 1.35, 1.3, 1.41, 0.707}},
      {"staged", staged_work, {0.937, 1.29, 1.26, 1.44, 1.19, 0.279, 3.02}},
      {"staged_mma", staged_mma_work, {0.8, 2.09, 1.76, 2.13, 1.02, 0.469, 1.02}},
      {"node_block", node_block_work, {1.48, 1.21, 1.51, 0.979, 0.648, 0.937, 1.19}},
  };
  return models;
}

}  // namespace heddle::detail
