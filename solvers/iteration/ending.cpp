#include <fmt/format.h>

#include <heddle/solvers/iteration/ending.hpp>
#include <iterator>

namespace heddle {

void Ending::write_reason(const Account& account, std::string& reason) const {
  reason.clear();
  fmt::format_to(std::back_inserter(reason),
                 "{}: {} of {} {} converged in {} {}, worst residual {:.2e}", ended_->reason,
                 account.converged, account.wanted, account.items, account.iterations,
                 account.steps, account.worst_residual);
}

}  // namespace heddle
