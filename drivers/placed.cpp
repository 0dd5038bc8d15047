#include <heddle/drivers/placed.hpp>
#include <heddle/solvers/operators/cudss_library.hpp>

namespace heddle::detail {

bool may_invert(const Request& request, const ProblemSizes& sizes) {
  const LanczosFilter filter = request.filter.value_or(LanczosFilter::automatic);
  return request.method == Method::block_lanczos && sizes.processes == 1 && !request.interval &&
         !sizes.normal_equations && request.which == Which::smallest &&
         (filter == LanczosFilter::automatic || filter == LanczosFilter::inverse);
}

void check_factorization(FactorLibrary library, bool on_gpu) {
  if (library != FactorLibrary::cudss) return;
  if (!on_gpu) {
    throw RequestError("factorization",
                       ": cudss factors in the memory of a GPU, and this solve runs on the host: "
                       "use auto or host, or device: cuda");
  }
  if (!cudss_missing().empty()) {
    throw RequestError("factorization", ": cudss cannot be used: " + cudss_missing());
  }
}

}  // namespace heddle::detail
