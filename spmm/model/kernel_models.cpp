#include <heddle/spmm/model/kernel_models.hpp>

namespace heddle::detail {

// Fitted by bench/spmm_study/fit.py to one H200.
const std::vector<KernelModel>& kernel_models() {
  static const std::vector<KernelModel> models = {
      {"row_split", row_split_work, {0.841, 0.766, 0.836, 2.03, 0.0514, 0.878, 0.5}},
      {"row_parallel", row_parallel_work, {0.859, 0.511, 0.738, 3.15, 0.245, 0.707, 0.937}},
      {"row_cached", row_cached_work, {1.16, 0.854, 1.35, 0.688, 1.41, 1.22, 0.937}},
      {"row_broadcast", row_broadcast_work, {1.35, 0.304, 2.04, 1.76, 0.917, 1.09, 1.87}},
      {"merge", merge_work, {1.58, 0.22, 2.48, 2.77, 0.0653, 1.79, 0.823}},
      {"merge_path", merge_path_work, {1.51, 0.635, 2.09, 1.19, 0.0221, 0.0964, 3.29}},
      {"nonzero_parallel", nonzero_parallel_work, {3.22, 0.369, 3.67, 2.54, 0.105, 0.569, 2.54}},
      {"narrow_merge", narrow_merge_work, {3.08, 0.386, 2.77, 1.96, 0.0156, 0.155, 2.43}},
      {"panel_mma", panel_mma_work, {1.09, 1.92, 3.22, 1.87, 1.09, 1.3, 1.38}},
      {"staged", staged_work, {0.569, 2.08, 0.892, 2.58, 0.0293, 1.38, 2.48}},
      {"node_block", node_block_work, {1.48, 1.06, 1.6, 1.29, 0.823, 0.958, 1.16}},
  };
  return models;
}

}  // namespace heddle::detail
