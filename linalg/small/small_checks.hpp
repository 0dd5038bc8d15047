#pragma once

#include <heddle/linalg/data/block_checks.hpp>

/// Shape checks of the operations on small matrices, the same for every backend. Each throws
/// `InvalidArgument` naming the shapes that do not fit.
namespace heddle {

void require_small_multiply_shapes(
    Shape A, Shape B, Shape C);  ///< C = A B, where A and B have the shapes after transposition
void require_cholesky_qr_shapes(Shape T, Shape N, Shape status);  ///< T = [C; G], N = [−C M; M]

}  // namespace heddle
