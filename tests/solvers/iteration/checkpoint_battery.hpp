#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/problem/checkpoint.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/temporary_folder.hpp"

/// What every solver owes that keeps checkpoints: a solve that was stopped anywhere and goes on
/// gives the bits of one that was not.
namespace heddle::test {

/// All of a result but the time it took.
struct Outcome {
  SolveStatus status;
  Index iterations;
  Index applications;
  OrthoCounts orthogonalization;
  std::vector<IterationRecord> history;
  std::vector<double> numbers;  ///< values, residuals and vectors
};

template <Scalar T>
void append(std::vector<double>& numbers, ConstBlockView<T, HostSpace> X, Index columns) {
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < columns; ++j) numbers.push_back(static_cast<double>(X(i, j)));
  }
}

/// Of an eigensolve; its vectors are in host memory.
template <Scalar T, class Space>
Outcome outcome_of(const EigenResult<T, Space>& result, ConstBlockView<T, HostSpace> vectors) {
  Outcome outcome{
      result.status,  result.iterations, result.operator_applications, result.orthogonalization,
      result.history, result.eigenvalues};
  outcome.numbers.insert(outcome.numbers.end(), result.residuals.begin(), result.residuals.end());
  outcome.numbers.push_back(result.orthogonality);
  append<T>(outcome.numbers, vectors, std::ssize(result.eigenvalues));
  return outcome;
}

template <Scalar T>
Outcome outcome_of(const EigenResult<T, HostSpace>& result) {
  return outcome_of<T, HostSpace>(result, result.eigenvectors.view());
}

/// Of a linear system; its solution is in host memory.
template <Scalar T, class Space>
Outcome outcome_of(const LinearResult<T, Space>& result, ConstBlockView<T, HostSpace> solution) {
  Outcome outcome{
      result.status,  result.iterations, result.operator_applications, result.orthogonalization,
      result.history, result.residuals};
  outcome.numbers.push_back(static_cast<double>(result.matrix_passes));
  append<T>(outcome.numbers, solution, std::ssize(result.residuals));
  return outcome;
}

template <Scalar T>
Outcome outcome_of(const LinearResult<T, HostSpace>& result) {
  return outcome_of<T, HostSpace>(result, result.solution.view());
}

inline void expect_same_bits(const Outcome& resumed, const Outcome& whole) {
  EXPECT_EQ(resumed.status, whole.status);
  EXPECT_EQ(resumed.iterations, whole.iterations);
  EXPECT_EQ(resumed.applications, whole.applications);
  const OrthoCounts& a = resumed.orthogonalization;
  const OrthoCounts& b = whole.orthogonalization;
  EXPECT_EQ(a.cholqr, b.cholqr);
  EXPECT_EQ(a.cholqr2, b.cholqr2);
  EXPECT_EQ(a.shifted, b.shifted);
  EXPECT_EQ(a.svqb, b.svqb);
  EXPECT_EQ(a.dropped, b.dropped);
  ASSERT_EQ(resumed.numbers.size(), whole.numbers.size());
  EXPECT_EQ(std::memcmp(resumed.numbers.data(), whole.numbers.data(),
                        whole.numbers.size() * sizeof(double)),
            0);
  ASSERT_EQ(resumed.history.size(), whole.history.size());
  for (std::size_t k = 0; k < whole.history.size(); ++k) {
    EXPECT_EQ(resumed.history[k].iteration, whole.history[k].iteration) << k;
    EXPECT_EQ(resumed.history[k].converged, whole.history[k].converged) << k;
    EXPECT_EQ(resumed.history[k].worst_residual, whole.history[k].worst_residual) << k;
    EXPECT_EQ(resumed.history[k].operator_applications, whole.history[k].operator_applications)
        << k;
    EXPECT_GE(resumed.history[k].seconds, resumed.history[std::max<std::size_t>(k, 1) - 1].seconds);
  }
}

using CheckpointedSolve = std::function<Outcome(const CheckpointOptions&, const Monitor&)>;

/// Solves as a whole, and again with stops: by the monitor at single iterations and at every few,
/// and by the death of the process.
inline void expect_resumes_with_the_same_bits(const CheckpointedSolve& solve) {
  const TemporaryFolder folder;
  const CheckpointOptions keep{.file = folder.path() / "state"};
  CheckpointOptions go_on = keep;
  go_on.resume = true;
  const Outcome whole = solve({}, {});
  ASSERT_GE(whole.history.size(), 4u) << "too short to be stopped";
  const Index last = whole.history.back().iteration;
  std::mt19937 random(7);
  std::uniform_int_distribution<Index> anywhere(whole.history.front().iteration, last - 1);

  for (const Index stop : {whole.history.front().iteration, anywhere(random), anywhere(random),
                           anywhere(random), last - 1}) {
    SCOPED_TRACE("stopped at iteration " + std::to_string(stop));
    const Outcome stopped =
        solve(keep, [&](const MonitorState& state) { return state.record.iteration != stop; });
    EXPECT_EQ(stopped.status, SolveStatus::interrupted);
    ASSERT_TRUE(std::filesystem::exists(keep.file));
    expect_same_bits(solve(go_on, {}), whole);
    EXPECT_TRUE(listing(folder.path()).empty());
  }
  {
    SCOPED_TRACE("stopped again and again");
    const Index every = std::max<Index>(1, last / 5);
    Index next = every;
    const Monitor few = [&](const MonitorState& state) { return state.record.iteration < next; };
    Outcome outcome = solve(keep, few);
    for (int runs = 0; outcome.status == SolveStatus::interrupted && runs < 20; ++runs) {
      next += every;
      outcome = solve(go_on, few);
    }
    expect_same_bits(outcome, whole);
  }
  {
    SCOPED_TRACE("the process died");
    CheckpointOptions often = keep;
    often.every_s = 0;
    const Index end = std::max(whole.history.front().iteration + 1, anywhere(random));
    EXPECT_THROW(solve(often,
                       [&](const MonitorState& state) {
                         if (state.record.iteration >= end) throw std::runtime_error("killed");
                         return true;
                       }),
                 std::runtime_error);
    expect_same_bits(solve(go_on, {}), whole);
  }
}

/// What a file that cannot be gone on from gives: an error that names it, whatever is wrong.
/// `other` is the same solve with other options.
inline void expect_refuses_bad_checkpoints(const CheckpointedSolve& solve,
                                           const CheckpointedSolve& other) {
  const TemporaryFolder folder;
  const CheckpointOptions keep{.file = folder.path() / "state"};
  CheckpointOptions go_on = keep;
  go_on.resume = true;
  const auto refuses = [&](const CheckpointedSolve& any, const CheckpointOptions& options,
                           const std::string& message) {
    try {
      any(options, {});
      ADD_FAILURE() << "accepted; expected: " << message;
    } catch (const InputError& error) {
      EXPECT_EQ(error.path(), options.file.string());
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  };
  refuses(solve, go_on, "no checkpoint can be read");
  solve(keep, [](const MonitorState& state) { return state.record.iteration < 2; });
  const std::string whole = contents(keep.file);
  refuses(other, go_on, "is the checkpoint of another solve");
  refuses(other, keep, "holds the checkpoint of an earlier solve");
  CheckpointOptions elsewhere = go_on;
  elsewhere.identity = {"matrix: K.mtx"};
  refuses(solve, elsewhere, "with nothing in place of matrix: K.mtx");
  for (const std::size_t place :
       {std::size_t{0}, std::size_t{17}, std::size_t{60}, whole.size() / 2, whole.size() - 1}) {
    SCOPED_TRACE(place);
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x20);
    folder.write("state", damaged);
    EXPECT_THROW(solve(go_on, {}), InputError);
    folder.write("state", whole.substr(0, place));
    EXPECT_THROW(solve(go_on, {}), InputError);
  }
  folder.write("state", whole);
  EXPECT_EQ(solve(go_on, {}).status, SolveStatus::converged);
  refuses(solve, {.file = folder.write("precious", "all that I have")}, "is not a checkpoint");
  EXPECT_EQ(contents(folder.path() / "precious"), "all that I have");
  const CheckpointOptions nowhere{.file = folder.path() / "missing" / "state"};
  refuses(solve, nowhere, "cannot be created");
}

}  // namespace heddle::test
