#include <heddle/spmm/model/kernel_models.hpp>

namespace heddle::detail {

// Fitted by bench/spmm_study/fit.py to one H100 and one H200.
const std::vector<KernelModel>& kernel_models() {
  static const std::vector<KernelModel> models = {
      {"row_split", row_split_work, {0.951, 0.8, 0.859, 2.43, 0.0203, 0.707, 0.5}},
      {"row_parallel", row_parallel_work, {0.911, 0.8, 0.0898, 3, 0.663, 0.439, 0.5}},
      {"row_cached", row_cached_work, {1.14, 1.04, 0.497, 1.67, 1.33, 1.19, 0.5}},
      {"row_broadcast", row_broadcast_work, {1.24, 0.8, 1.96, 1.38, 1.02, 1.07, 1.48}},
      {"merge", merge_work, {1.45, 0.911, 1.23, 3.57, 0.0503, 1.58, 1.09}},
      {"merge_path", merge_path_work, {1.38, 0.892, 1.11, 2.71, 0.0743, 2.71, 0.805}},
      {"nonzero_parallel", nonzero_parallel_work, {2.65, 0.8, 3.57, 2.52, 0.21, 0.677, 1.76}},
      {"narrow_merge", narrow_merge_work, {2.18, 0.8, 2.65, 2.33, 0.112, 0.304, 1.92}},
      {"panel_mma", panel_mma_work, {1.26, 1.9, 0.994, 1.86, 1.3, 1.45, 0.648}},
      {"staged", staged_work, {0.979, 1.29, 1.35, 1.35, 1.16, 0.324, 2.95}},
      {"staged_mma", staged_mma_work, {0.917, 1.38, 1.08, 1.29, 2.43, 0.42, 2.83}},
      {"node_block", node_block_work, {1.54, 1.23, 1.54, 1.09, 0.534, 0.937, 1.14}},
  };
  return models;
}

}  // namespace heddle::detail
