#pragma once

#include <heddle/drivers/problem/fields.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::detail {

/// Words that stand for themselves, `first` before `more`.
Words<std::string> words_from(std::initializer_list<std::string_view> first,
                              const std::vector<std::string_view>& more);

/// Adds the rows of the fields that say how a solve runs, whatever it solves: products, the
/// machine, checkpoints.
void add_run_fields(FieldTable<Request>& table);

}  // namespace heddle::detail
