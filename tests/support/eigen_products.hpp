#pragma once

#include <Eigen/Core>

/// The loops of Eigen's products of matrices of double. They are compiled once, with optimisation:
/// in a test, without it, a product takes many times as long. Later versions of Eigen have other
/// parameters.
#if !EIGEN_VERSION_AT_LEAST(3, 4, 90)
namespace Eigen::internal {
extern template struct gebp_kernel<double, double, Index, blas_data_mapper<double, Index, ColMajor>,
                                   gebp_traits<double, double>::mr, gebp_traits<double, double>::nr,
                                   false, false>;
}  // namespace Eigen::internal
#endif
