#include <heddle/drivers/team/followers.hpp>
#include <utility>

namespace heddle::detail {

Followers::Followers(int size, Duty duty)
    : duty_(std::move(duty)), team_(size), leader_(team_.member(0)) {
  try {
    for (int rank = 1; rank < size; ++rank) {
      threads_.emplace_back([this, member = team_.member(rank)] {
        try {
          duty_.serve(member);
        } catch (...) {
          team_.fail(std::current_exception());
        }
      });
    }
  } catch (...) {
    team_.fail(std::current_exception());
    throw;
  }
}

Followers::~Followers() {
  try {
    duty_.dismiss(*leader_);
  } catch (const TeamEnded&) {  // so have the threads
  }
}

}  // namespace heddle::detail
