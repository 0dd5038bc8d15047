#include <heddle/spmm/model/kernel_models.hpp>

namespace heddle::detail {

// Fitted by bench/spmm_study/fit.py to one H200.
const std::vector<KernelModel>& kernel_models() {
  static const std::vector<KernelModel> models = {
      {"row_split", row_split_work, {0.823, 0.805, 0.859, 2.18, 0.0372, 0.823, 0.403}},
      {"row_parallel", row_parallel_work, {0.878, 0.392, 0.8, 2.63, 0.31, 0.692, 1.27}},
      {"row_cached", row_cached_work, {1.14, 0.854, 1.32, 0.688, 1.41, 1.19, 0.805}},
      {"row_broadcast", row_broadcast_work, {1.35, 0.273, 2, 1.65, 0.958, 1.07, 1.83}},
      {"merge", merge_work, {1.72, 0.279, 2.28, 2.65, 0.0492, 1.61, 1.04}},
      {"merge_path", merge_path_work, {1.61, 0.608, 1.87, 1.35, 0.0313, 0.128, 3.44}},
      {"nonzero_parallel", nonzero_parallel_work, {3.22, 0.392, 3.65, 2.47, 0.145, 0.479, 2.59}},
      {"narrow_merge", narrow_merge_work, {3.22, 0.339, 2.54, 1.83, 0.0241, 0.128, 2.59}},
      {"panel_mma", panel_mma_work, {1.24, 1.82, 3.13, 1.5, 1.14, 1.38, 1.35}},
      {"staged", staged_work, {0.823, 2.04, 1.11, 2.13, 0.0727, 0.285, 3.44}},
      {"node_block", node_block_work, {1.51, 1.02, 1.67, 1.23, 0.755, 0.937, 1.07}},
  };
  return models;
}

}  // namespace heddle::detail
