#include <heddle/spmm/model/kernel_models.hpp>

namespace heddle::detail {

// Fitted by bench/spmm_study/fit.py to one H100.
const std::vector<KernelModel>& kernel_models() {
  static const std::vector<KernelModel> models = {
      {"row_split", row_split_work, {0.937, 0.878, 0.878, 2.77, 0.0319, 0.692, 0.369}},
      {"row_parallel", row_parallel_work, {0.917, 0.254, 0.994, 3.2, 0.0639, 0.707, 0.291}},
      {"row_cached", row_cached_work, {1.16, 0.931, 1.44, 0.367, 1.51, 1.19, 0.469}},
      {"row_broadcast", row_broadcast_work, {1.22, 0.331, 2, 1.54, 1, 1.07, 1.76}},
      {"merge", merge_work, {1.54, 0.631, 2.52, 2.47, 0.0472, 1.48, 0.823}},
      {"merge_path", merge_path_work, {1.38, 0.723, 1.92, 0.386, 0.0923, 0.125, 3.29}},
      {"nonzero_parallel", nonzero_parallel_work, {2.54, 0.346, 3.59, 2.48, 0.162, 0.479, 2.23}},
      {"narrow_merge", narrow_merge_work, {2.13, 0.297, 2.59, 2, 0.215, 0.25, 2.18}},
      {"panel_mma", panel_mma_work, {1.14, 2.04, 2.83, 0.0776, 1.76, 1.45, 0.479}},
      {"staged", staged_work, {0.958, 1.33, 1.19, 1.76, 0.841, 0.169, 3.15}},
      {"staged_mma", staged_mma_work, {0.181, 2.47, 1.44, 2.17, 1.24, 0.304, 0.788}},
      {"node_block", node_block_work, {1.41, 1.06, 1.6, 1.02, 0.621, 0.937, 1.27}},
  };
  return models;
}

}  // namespace heddle::detail
