#pragma once

#include <heddle/spmm/model/work.hpp>
#include <string_view>
#include <vector>

namespace heddle::detail {

/// How much longer than at the device's nominal speed a kernel's parts take, as fitted.
struct KernelConstants {
  double memory = 1;
  double l2 = 1;
  double l1 = 1;
  double issue = 1;
  double latency = 1;
  double tail = 1;
  double launch = 1;
};

/// A kernel that the model knows.
struct KernelModel {
  std::string_view kernel;
  CountWork count;
  KernelConstants constants;
  KernelConstants of_complex = constants;  ///< for complex numbers
};

const std::vector<KernelModel>& kernel_models();

}  // namespace heddle::detail
