#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/drivers/problem/request_fields.hpp>
#include <heddle/drivers/problem/request_values.hpp>
#include <heddle/drivers/team/command.hpp>
#include <heddle/drivers/team/followers.hpp>
#include <heddle/linalg/base/error.hpp>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace heddle {
namespace {

using detail::Field;
using detail::request_fields;

/// The addresses of all members of `request`, of nested structs each one. A new member stops the
/// compilation here: name it, and give it a row in `request_fields`.
std::vector<const void*> members_of(const Request& request) {
  const auto& [method, nev, which, interval, sigma, side, block_size, tolerance, criterion,
               linear_criterion, max_iterations, time_limit_s, seed, refresh_interval, start,
               max_basis, filter, factorization, certify, algorithm, damp, project_rhs,
               preconditioner, spmm, reorder, precision, device, devices, threads, distribution,
               checkpoint] = request;
  const auto& [type, options, its_precision] = preconditioner;
  const auto& [kernel, verdict_file, transpose] = spmm;
  // `on_failure` is a function of the process itself.
  const auto& [file, every_s, resume, identity, on_failure] = checkpoint;
  static_cast<void>(on_failure);
  return {&method,         &nev,          &which,         &interval,         &sigma,
          &side,           &block_size,   &tolerance,     &criterion,        &linear_criterion,
          &max_iterations, &time_limit_s, &seed,          &refresh_interval, &start,
          &max_basis,      &filter,       &factorization, &certify,          &algorithm,
          &damp,           &project_rhs,  &type,          &options,          &its_precision,
          &kernel,         &verdict_file, &transpose,     &reorder,          &precision,
          &device,         &devices,      &threads,       &distribution,     &file,
          &every_s,        &resume,       &identity};
}

TEST(RequestFields, EveryMemberHasARow) {
  const Request request;
  std::set<const void*> listed;
  for (const Field<Request>& field : request_fields()) {
    EXPECT_TRUE(listed.insert(field.member->address(request)).second) << field.name;
  }
  const std::vector<const void*> members = members_of(request);
  EXPECT_EQ(listed, std::set<const void*>(members.begin(), members.end()));
}

/// A request without a default, written by hand.
Request unusual() {
  return {.method = Method::block_cg,
          .nev = 17,
          .which = Which::largest,
          .interval = RealInterval{-1.5, 2.25},
          .sigma = 0.75,
          .side = Side::below,
          .block_size = 9,
          .tolerance = 1e-3,
          .criterion = Criterion::absolute,
          .linear_criterion = LinearCriterion::absolute,
          .max_iterations = 123,
          .time_limit_s = 4.5,
          .seed = std::numeric_limits<std::uint64_t>::max(),
          .refresh_interval = 7,
          .start = StartVectors::random,
          .max_basis = 81,
          .filter = LanczosFilter::chebyshev,
          .factorization = FactorLibrary::cudss,
          .certify = Certify::inertia,
          .algorithm = CgAlgorithm::pseudo_block,
          .damp = 0.25,
          .project_rhs = true,
          .preconditioner = {.type = "chebyshev",
                             .options = {{"degree", Index{8}}, {"ordering", std::string("rcm")}},
                             .precision = PreconditionerPrecision::tf32},
          .spmm = {.kernel = "merge", .verdict_file = "found", .transpose = SpmmTranspose::stored},
          .reorder = RowOrder::metis,
          .precision = Precision::mixed,
          .device = DeviceChoice::cuda,
          .devices = 3,
          .threads = 5,
          .distribution = Distribution::metis,
          .checkpoint = {.file = "state.bin",
                         .every_s = 12.5,
                         .resume = true,
                         .identity = {"matrix: 3", "mass: 4"}}};
}

/// What another process receives of `request`.
Request received(const Request& request, detail::Command::Duty duty) {
  Request arrived;
  {
    detail::Followers team(2, {[&](const std::shared_ptr<Processes>& processes) {
                                 arrived = detail::receive_command(*processes).request;
                               },
                               [&](Processes& processes) {
                                 detail::send_command(processes,
                                                      {.duty = duty, .request = request});
                               }});
  }
  return arrived;
}

TEST(RequestFields, AnotherProcessReceivesEveryMember) {
  const Request sent = unusual();
  for (const auto duty : {detail::Command::Duty::solve, detail::Command::Duty::rows}) {
    const Request arrived = received(sent, duty);
    for (const Field<Request>& field : request_fields()) {
      EXPECT_FALSE(field.is_default(sent)) << field.name << " is at its default";
      EXPECT_TRUE(field.member->same(arrived, sent)) << field.name;
    }
    const Request none = received({}, duty);
    for (const Field<Request>& field : request_fields()) {
      EXPECT_TRUE(field.is_default(none)) << field.name;
    }
  }
}

/// The value of a field as a user gives it, from its text.
GivenValue given_from(const Field<Request>& field, const std::string& text) {
  const std::vector<std::string_view>& words = field.forms.words;
  if (std::find(words.begin(), words.end(), text) != words.end()) return text;
  if (field.forms.interval) return std::vector{-1.5, 2.25};
  if (field.forms.integer) return static_cast<std::uint64_t>(std::stoull(text));
  if (field.forms.real) return std::stod(text);
  return text;
}

TEST(RequestFields, TheTextOfAValueSetsIt) {
  for (const Request& request : {Request{}, unusual()}) {
    for (const Field<Request>& field : request_fields()) {
      if (field.path.empty() || field.member->text(request).empty()) continue;
      if (field.name == "max_iterations" && field.is_default(request)) continue;
      Request copy;
      EXPECT_TRUE(field.set(copy, given_from(field, field.member->text(request)))) << field.name;
      EXPECT_TRUE(field.member->same(copy, request)) << field.name;
    }
  }
}

TEST(RequestFields, NamesAreUnique) {
  std::set<std::string> names, keywords;
  for (const Field<Request>& field : request_fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    if (field.keyword.empty()) continue;
    EXPECT_TRUE(keywords.insert(field.keyword).second) << field.keyword;
  }
}

/// The message with which `set_field` refuses a value, empty if it does not.
std::string refusal(std::string_view keyword, const GivenValue& value) {
  Request request;
  try {
    set_field(request, keyword, value);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(RequestFields, SetByKeyword) {
  Request request;
  set_field(request, "which", std::string("largest"));
  set_field(request, "block_size", std::string("auto"));
  set_field(request, "max_iterations", Index{0});
  set_field(request, "interval", std::vector{1.0, 2.0});
  set_field(request, "seed", ~std::uint64_t{0});
  set_field(request, "project_rhs", true);
  set_field(request, "damp", Index{2});
  set_field(request, "time_limit", 3.0);
  set_field(request, "preconditioner", std::string("chebyshev"));
  set_field(request, "preconditioner.degree", Index{8});
  set_field(request, "preconditioner.precision", std::string("single"));
  set_field(request, "checkpoint", std::string("state"));
  EXPECT_EQ(request.which, Which::largest);
  EXPECT_EQ(request.max_iterations, 0);
  EXPECT_EQ(request.interval->upper, 2);
  EXPECT_EQ(request.seed, ~std::uint64_t{0});
  EXPECT_TRUE(request.project_rhs);
  EXPECT_EQ(request.damp, 2);
  EXPECT_EQ(request.time_limit_s, 3);
  EXPECT_EQ(request.preconditioner.type, "chebyshev");
  EXPECT_EQ(std::get<Index>(request.preconditioner.options.at("degree")), 8);
  EXPECT_EQ(request.preconditioner.precision, PreconditionerPrecision::single);
  EXPECT_EQ(request.checkpoint.file, "state");
}

TEST(RequestFields, WhatSetFieldRefuses) {
  EXPECT_EQ(refusal("nev", 2.5), "nev is 2.5, not auto or an integer of at least 1");
  EXPECT_EQ(refusal("nev", true), "nev is true, not auto or an integer of at least 1");
  EXPECT_EQ(refusal("nev", ~std::uint64_t{0}),
            "nev is 18446744073709551615, not auto or an integer of at least 1");
  EXPECT_EQ(refusal("max_basis", std::string("many")),
            "max_basis is 'many', not auto or an integer of at least 1");
  EXPECT_EQ(refusal("which", std::string("both")),
            "which is 'both', not one of 'smallest', 'largest'");
  EXPECT_EQ(refusal("which", Index{1}), "which is 1, not one of 'smallest', 'largest'");
  EXPECT_EQ(refusal("interval", std::vector{2.0}),
            "interval is [2], not a list of two numbers or -inf or inf, the larger one last");
  EXPECT_EQ(refusal("checkpoint", Index{3}), "checkpoint.file is 3, not a file name");
  EXPECT_EQ(refusal("preconditioner.degree", 2.5),
            "preconditioner.degree is 2.5, not an integer or a word");
  EXPECT_EQ(refusal("nevs", Index{3}).substr(0, 49),
            "heddle knows no option nevs; it knows method, nev");
  EXPECT_EQ(keyword_of("time_limit_s"), "time_limit");
  EXPECT_EQ(keyword_of("preconditioner.type"), "preconditioner.type");
  EXPECT_EQ(detail::key_of("linear_criterion"), "solver.criterion");
  EXPECT_EQ(detail::key_of("preconditioner.degree"), "solver.preconditioner.degree");
}

}  // namespace
}  // namespace heddle
