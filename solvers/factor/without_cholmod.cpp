#include <heddle/solvers/factor/cholesky_backend.hpp>

namespace heddle::detail {

const CholeskyBackend* cholmod_cholesky() { return nullptr; }

}  // namespace heddle::detail
