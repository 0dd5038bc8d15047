#include <fmt/format.h>

#include <heddle/solvers/iteration/stop_control.hpp>
#include <iterator>

namespace heddle::detail {

void StopControl::write_sentence(const Account& account, std::string& sentence) const {
  sentence.clear();
  fmt::format_to(std::back_inserter(sentence),
                 "{}: {} of {} {} converged in {} {}, worst residual {:.2e}", ended_->reason,
                 account.converged, account.wanted, account.items, account.iterations,
                 account.steps, account.worst_residual);
}

}  // namespace heddle::detail
