#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/factor/symmetric_factor.hpp>

namespace heddle::detail {

const char* mumps_missing() { return "heddle was built without MUMPS (Debian: libmumps-seq-dev)"; }

std::unique_ptr<SymmetricFactor<double>> mumps_factor(const CsrView<double, HostSpace>&, double) {
  throw Error(mumps_missing());
}

}  // namespace heddle::detail
