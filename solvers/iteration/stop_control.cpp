#include <fmt/format.h>

#include <cmath>
#include <heddle/solvers/iteration/stop_control.hpp>
#include <iterator>

namespace heddle::detail {

void StopControl::write_sentence(const Account& account, std::string& sentence) const {
  sentence.clear();
  fmt::format_to(std::back_inserter(sentence), "{}: {} of {} {} converged in {} {}", ended_->reason,
                 account.converged, account.wanted, account.items, account.iterations,
                 account.steps);
  write_worst_residual(account.worst_residual, sentence);
}

void write_worst_residual(double residual, std::string& sentence) {
  if (std::isnan(residual)) return;
  fmt::format_to(std::back_inserter(sentence), ", worst residual {:.2e}", residual);
}

}  // namespace heddle::detail
