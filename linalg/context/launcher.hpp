#pragma once

#include <optional>
#include <string>

namespace heddle::detail {

/// The number of processes that a launcher started together with this one, as the environment that
/// it set tells. 1: there is no launcher. Empty: there is one that does not tell.
std::optional<int> launched_processes() noexcept;

/// The message of the error that each of `launched` processes would solve the whole problem, for
/// `reason`.
std::string cannot_join(int launched, const std::string& reason);

}  // namespace heddle::detail
