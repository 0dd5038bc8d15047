#include <heddle/spmm/model/kernel_models.hpp>

namespace heddle::detail {

// Fitted by bench/spmm_study/fit.py to one H100.
const std::vector<KernelModel>& kernel_models() {
  static const std::vector<KernelModel> models = {
      {"row_split", row_split_work, {0.917, 0.75, 0.766, 2.94, 0.112, 0.897, 0.0156}},
      {"row_parallel", row_parallel_work, {0.878, 1.26, 0.0621, 1.95, 0.635, 0.101, 0.841}},
      {"row_cached", row_cached_work, {1.24, 0.973, 1.16, 0.75, 1.41, 1.22, 0.42}},
      {"row_broadcast", row_broadcast_work, {1.22, 0.522, 2, 1.54, 1, 1.09, 1.58}},
      {"merge", merge_work, {1.51, 0.604, 2.42, 3, 0.159, 1.61, 0.738}},
      {"merge_path", merge_path_work, {1.33, 0.917, 1.96, 1.3, 0.608, 2.18, 1.68}},
      {"nonzero_parallel", nonzero_parallel_work, {2.54, 0.359, 3.57, 2.47, 0.133, 0.569, 2.04}},
      {"narrow_merge", narrow_merge_work, {2.09, 0.411, 2.65, 2.23, 0.245, 1.35, 1.87}},
      {"panel_mma", panel_mma_work, {1.24, 2.04, 2.13, 0.979, 1.33, 1.45, 0.557}},
      {"staged", staged_work, {0.979, 1.32, 1.13, 1.71, 0.635, 0.189, 3.08}},
      {"staged_mma", staged_mma_work, {0.317, 2.42, 1.06, 2.17, 1.24, 0.285, 0.755}},
      {"node_block", node_block_work, {1.38, 1.06, 1.47, 0.973, 0.723, 0.937, 1.16}},
  };
  return models;
}

}  // namespace heddle::detail
