#include <heddle/solvers/factor/cholesky_backend.hpp>

namespace heddle::detail {

const CholeskyBackend& best_cholesky() {
  const CholeskyBackend* cholmod = cholmod_cholesky();
  return cholmod != nullptr ? *cholmod : eigen_cholesky();
}

}  // namespace heddle::detail
