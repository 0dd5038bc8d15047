#include <heddle/spmm/model/kernel_models.hpp>

namespace heddle::detail {

// Fitted by bench/spmm_study/fit.py to one H100.
const std::vector<KernelModel>& kernel_models() {
  static const std::vector<KernelModel> models = {
      {"row_split", row_split_work, {0.917, 0.738, 0.738, 3.02, 0.0696, 0.937, 0.0156}},
      {"row_parallel", row_parallel_work, {0.878, 1.29, 0.0545, 1.95, 0.621, 0.0923, 0.738}},
      {"row_cached", row_cached_work, {1.22, 0.973, 1.16, 0.688, 1.45, 1.22, 0.439}},
      {"row_broadcast", row_broadcast_work, {1.22, 0.545, 2, 1.48, 1, 1.07, 1.76}},
      {"merge", merge_work, {1.54, 0.604, 2.47, 2.81, 0.152, 1.58, 0.823}},
      {"merge_path", merge_path_work, {1.33, 0.878, 2.09, 1.33, 0.545, 1.92, 1.96}},
      {"nonzero_parallel", nonzero_parallel_work, {2.59, 0.394, 3.51, 2.43, 0.193, 0.394, 2.18}},
      {"narrow_merge", narrow_merge_work, {2.04, 0.439, 2.65, 2.33, 0.136, 1.27, 1.79}},
      {"panel_mma", panel_mma_work, {1.22, 2.08, 2.22, 0.994, 1.33, 1.41, 0.459}},
      {"staged", staged_work, {1, 1.24, 1.14, 1.68, 0.595, 0.234, 3.22}},
      {"staged_mma", staged_mma_work, {0.459, 2.38, 1.22, 2.13, 1.24, 0.285, 0.788}},
      {"node_block", node_block_work, {1.38, 1.07, 1.48, 0.979, 0.707, 0.958, 1.14}},
  };
  return models;
}

}  // namespace heddle::detail
