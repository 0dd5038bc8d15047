#include <heddle/spmm/model/kernel_models.hpp>

namespace heddle::detail {

// Fitted by bench/spmm_study/fit.py to one H200, but for `staged` and `narrow_merge`, whose
// constants come from the 49 cases of an earlier run.
const std::vector<KernelModel>& kernel_models() {
  static const std::vector<KernelModel> models = {
      {"row_split", row_split_work, {1.11, 0.8, 0.952, 2.42, 0.0472, 0.511, 1.19}},
      {"row_parallel", row_parallel_work, {1.04, 0.783, 1.02, 2.26, 0.469, 0.595, 1.14}},
      {"row_cached", row_cached_work, {1.48, 0.8, 1.18, 0.892, 1.19, 1.41, 1}},
      {"row_broadcast", row_broadcast_work, {1.35, 0.411, 2.04, 1.61, 0.958, 1.07, 1.61}},
      {"merge", merge_work, {1.35, 0.369, 2.09, 3.22, 0.0793, 1.92, 0.755}},
      {"merge_path", merge_path_work, {1.35, 0.648, 2.04, 2.77, 0.0985, 1, 2.13}},
      {"nonzero_parallel", nonzero_parallel_work, {3.02, 0.403, 3.67, 2.65, 0.0442, 0.979, 1.61}},
      {"narrow_merge", narrow_merge_work, {0.297, 2.13, 3.08, 0.937, 0.245, 1.61, 1.48}},
      {"panel_mma", panel_mma_work, {1.14, 1.54, 3.75, 2.48, 0.788, 1.11, 1.48}},
      {"staged", staged_work, {0.134, 0.368, 1.68, 2.0, 0.0175, 0.9, 3.75}},
      {"node_block", node_block_work, {1.61, 0.75, 1.9, 1.44, 0.511, 1.07, 1.54}},
  };
  return models;
}

}  // namespace heddle::detail
