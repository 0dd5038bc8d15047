#include <heddle/spmm/model/kernel_models.hpp>

namespace heddle::detail {

// Fitted by lab/spmm_study/fit.py to one H100 and one H200, for complex numbers to one H200.
const std::vector<KernelModel>& kernel_models() {
  static const std::vector<KernelModel> models = {
      {"row_split",
       row_split_work,
       {0.951, 0.818, 0.859, 2.43, 0.0221, 0.723, 0.5},
       {1, 0.8, 1.35, 2.65, 0.0156, 1.02, 0.5}},
      {"row_parallel",
       row_parallel_work,
       {0.911, 0.8, 0.0811, 3.08, 0.677, 0.595, 0.5},
       {0.931, 0.8, 0.176, 3.42, 0.122, 0.823, 0.738}},
      {"row_cached",
       row_cached_work,
       {1.14, 1.04, 0.545, 1.61, 1.35, 1.19, 0.5},
       {1.76, 0.872, 0.841, 0.394, 1.51, 1.76, 0.5}},
      {"row_broadcast", row_broadcast_work, {1.24, 0.8, 1.96, 1.38, 1.02, 1.07, 1.41}},
      {"merge",
       merge_work,
       {1.48, 0.931, 1.33, 3.59, 0.0573, 1.65, 0.595},
       {1.78, 0.994, 2.47, 6.27, 0.0846, 2.23, 0.5}},
      {"merge_path",
       merge_path_work,
       {1.38, 0.911, 0.892, 2.87, 0.0696, 2.89, 0.5},
       {1.79, 1.11, 3.34, 5.75, 0.201, 2.38, 0.663}},
      {"nonzero_parallel",
       nonzero_parallel_work,
       {2.59, 0.8, 3.57, 2.52, 0.229, 0.677, 1.72},
       {2.71, 0.8, 4.06, 7.14, 0.117, 0.5, 1.19}},
      {"narrow_merge", narrow_merge_work, {2.04, 0.8, 2.77, 2.43, 0.0156, 0.136, 1.72}},
      {"panel_mma", panel_mma_work, {1.29, 1.86, 2.26, 1.86, 1.16, 1.38, 0.841}},
      {"staged",
       staged_work,
       {0.958, 1.32, 1.35, 1.38, 1.16, 0.339, 2.89},
       {0.8, 1.9, 0.4, 2.08, 1.07, 0.738, 5.08}},
      {"staged_mma", staged_mma_work, {0.972, 1.41, 1.02, 1.3, 2.48, 0.479, 2.77}},
      {"node_block", node_block_work, {1.51, 1.26, 1.57, 1.13, 0.449, 0.917, 1.19}},
  };
  return models;
}

}  // namespace heddle::detail
