#include <heddle/drivers/placed.hpp>

namespace heddle::detail {

bool may_invert(const Request& request, const ProblemSizes& sizes) {
  const LanczosFilter filter = request.filter.value_or(LanczosFilter::automatic);
  return request.method == Method::block_lanczos && sizes.processes == 1 && !request.interval &&
         !sizes.normal_equations && request.which == Which::smallest &&
         (filter == LanczosFilter::automatic || filter == LanczosFilter::inverse);
}

}  // namespace heddle::detail
