#include <heddle/spmm/model/kernel_models.hpp>

namespace heddle::detail {

// Fitted by bench/spmm_study/fit.py to one H100 and one H200.
const std::vector<KernelModel>& kernel_models() {
  static const std::vector<KernelModel> models = {
      {"row_split", row_split_work, {0.958, 0.707, 0.723, 2.83, 0.0964, 0.937, 0.0156}},
      {"row_parallel", row_parallel_work, {0.917, 1.16, 0.0595, 2.26, 0.635, 0.103, 0.723}},
      {"row_cached", row_cached_work, {1.16, 0.911, 1.18, 0.911, 1.41, 1.22, 0.403}},
      {"row_broadcast", row_broadcast_work, {1.27, 0.369, 2, 1.48, 1, 1.07, 1.72}},
      {"merge", merge_work, {1.58, 0.644, 1.99, 3.34, 0.128, 1.65, 0.677}},
      {"merge_path", merge_path_work, {1.41, 0.873, 1.53, 1.71, 0.878, 2.43, 0.917}},
      {"nonzero_parallel", nonzero_parallel_work, {2.65, 0.367, 3.57, 2.52, 0.155, 0.582, 1.96}},
      {"narrow_merge", narrow_merge_work, {2, 0.545, 2.83, 2.54, 0.0884, 1.41, 1.48}},
      {"panel_mma", panel_mma_work, {1.3, 1.95, 2.36, 1.18, 1.33, 1.45, 0.534}},
      {"staged", staged_work, {1, 1.24, 1.14, 1.72, 0.723, 0.224, 3.02}},
      {"staged_mma", staged_mma_work, {0.723, 2.18, 1.54, 2.04, 1.11, 0.449, 0.859}},
      {"node_block", node_block_work, {1.48, 1, 1.51, 0.937, 0.823, 0.937, 1.04}},
  };
  return models;
}

}  // namespace heddle::detail
