#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/solvers/iteration/checkpointer.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/temporary_folder.hpp"

namespace heddle {
namespace detail {}
using namespace detail;
namespace {

using test::contents;
using test::TemporaryFolder;

const std::vector<std::string> kIdentity = {"solver: test", "n: 7"};

/// A solve with some numbers, a history and two blocks: the first columns of a wider block, as
/// blocks of solvers are, and a whole one.
template <Scalar T>
class Solve {
 public:
  explicit Solve(Index rows, std::uint64_t seed = 3)
      : wide_(host_, rows, 6), whole_(host_, rows, 3) {
    fill_random<T>(host_, seed, 0, wide_.view());
    fill_random<T>(host_, seed, 1, whole_.view());
  }

  /// What ends an iteration: other numbers, one more record.
  void iterate() {
    ++iteration;
    ritz_values.push_back(1.0 / static_cast<double>(iteration));
    history.push_back({.iteration = iteration, .worst_residual = ritz_values.back()});
  }

  void capture(Checkpointer& checkpointer) {
    checkpointer.capture(history, [this](Archive& archive) { numbers(archive); });
  }
  void write(Checkpointer& checkpointer) {
    checkpointer.write(host_, history, [this](const auto& visit) { this->blocks(visit); });
  }
  void resume(const Checkpointer& checkpointer) {
    checkpointer.resume(
        host_, history, [this](Archive& archive) { numbers(archive); },
        [this](const auto& visit) { this->blocks(visit); });
  }

  Index iteration = 0;
  double not_finite = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> ritz_values;
  std::vector<IterationRecord> history;

  /// The bits of the columns of both blocks from `first` on.
  std::string bits(Index first, Index count) const {
    std::string bytes;
    for (const auto X : {wide_.view(), whole_.view()}) {
      for (Index i = 0; i < X.rows(); ++i) {
        for (Index j = first; j < std::min(first + count, X.cols()); ++j) {
          bytes.append(reinterpret_cast<const char*>(&X(i, j)), sizeof(T));
        }
      }
    }
    return bytes;
  }

 private:
  void numbers(Archive& archive) {
    archive.values(iteration, not_finite);
    archive.list(ritz_values);
  }
  template <class Visit>
  void blocks(const Visit& visit) {
    visit(wide_.columns(0, 3));
    visit(whole_.view());
  }

  HostContext host_{2};
  MultiVector<T, HostSpace> wide_, whole_;
};

/// Checkpoints in a folder of their own.
template <class T>
class CheckpointerTest : public testing::Test {
 protected:
  CheckpointOptions keep() const { return {.file = folder_.path() / "state"}; }
  CheckpointOptions go_on() const { return {.file = folder_.path() / "state", .resume = true}; }

  /// Leaves the checkpoint of a solve behind.
  void write(Index rows) {
    const CheckpointOptions options = keep();
    Checkpointer checkpointer(options, kIdentity);
    Solve<T> solve(rows);
    solve.iterate();
    solve.capture(checkpointer);
    solve.write(checkpointer);
  }

  /// The error that resuming ends with, empty if it succeeds.
  static std::string complaint(const Checkpointer& checkpointer) {
    Solve<T> solve(4);
    try {
      solve.resume(checkpointer);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  /// The error that a solve with these options begins with, likewise.
  static std::string complaint(const CheckpointOptions& options,
                               std::vector<std::string> identity) {
    try {
      const Checkpointer checkpointer(options, std::move(identity));
      return checkpointer.resumes() ? complaint(checkpointer) : "";
    } catch (const InputError& error) {
      EXPECT_EQ(error.path(), options.file.string());
      return error.what();
    }
  }

  TemporaryFolder folder_;
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(CheckpointerTest, Scalars);

TYPED_TEST(CheckpointerTest, NumbersAndBlocksComeBackToTheBit) {
  for (const Index rows : {0, 1, 5, 16384 + 3}) {  // more rows than one portion
    const CheckpointOptions keep = this->keep(), go_on = this->go_on();
    Solve<TypeParam> solve(rows);
    Checkpointer checkpointer(keep, kIdentity);
    for (int k = 0; k < 3; ++k) solve.iterate();
    solve.capture(checkpointer);
    solve.write(checkpointer);

    Solve<TypeParam> other(rows, 17);
    const std::string beside = other.bits(3, 3);
    other.resume(Checkpointer(go_on, kIdentity));
    EXPECT_EQ(other.bits(0, 3), solve.bits(0, 3));
    EXPECT_EQ(other.bits(3, 3), beside) << "columns that are not the block's were written";
    EXPECT_EQ(other.iteration, 3);
    EXPECT_TRUE(std::isnan(other.not_finite));
    EXPECT_EQ(other.ritz_values, solve.ritz_values);
    ASSERT_EQ(other.history.size(), 3u);
    EXPECT_EQ(other.history.back().worst_residual, 1.0 / 3);
    checkpointer.discard();
  }
}

TYPED_TEST(CheckpointerTest, HoldsTheNumbersAsTheyWereCaptured) {
  const CheckpointOptions keep = this->keep(), go_on = this->go_on();
  Solve<TypeParam> solve(4);
  Checkpointer checkpointer(keep, kIdentity);
  solve.iterate();
  solve.capture(checkpointer);
  solve.iterate();
  solve.write(checkpointer);
  Solve<TypeParam> other(4);
  other.resume(Checkpointer(go_on, kIdentity));
  EXPECT_EQ(other.iteration, 1);
  EXPECT_EQ(other.ritz_values.size(), 1u);
  EXPECT_EQ(other.history.size(), 1u);
}

TYPED_TEST(CheckpointerTest, TheLatestReplacesTheOneBefore) {
  const CheckpointOptions keep = this->keep(), go_on = this->go_on();
  Solve<TypeParam> solve(4);
  Checkpointer checkpointer(keep, kIdentity);
  for (int k = 0; k < 2; ++k) {
    solve.iterate();
    solve.capture(checkpointer);
    solve.write(checkpointer);
  }
  Solve<TypeParam> other(4);
  other.resume(Checkpointer(go_on, kIdentity));
  EXPECT_EQ(other.iteration, 2);
  EXPECT_EQ(test::listing(this->folder_.path()), std::set<std::string>{"state"});
}

using BadCheckpoint = CheckpointerTest<double>;

TEST_F(BadCheckpoint, EveryDamagedByteIsFound) {
  write(4);
  const CheckpointOptions options = go_on();
  const Checkpointer checkpointer(options, kIdentity);
  ASSERT_EQ(complaint(checkpointer), "");
  const std::string whole = contents(options.file);
  for (std::size_t place = 0; place < whole.size(); ++place) {
    SCOPED_TRACE(place);
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x20);
    folder_.write("state", damaged);
    const std::string message = complaint(checkpointer);
    if (place < 16) {
      EXPECT_NE(message.find("is not a checkpoint of this version"), std::string::npos);
    } else if (place < 24) {
      EXPECT_NE(message, "");  // the length of the first section
    } else {
      EXPECT_NE(message.find("is damaged: its check sum is wrong"), std::string::npos);
    }
  }
}

TEST_F(BadCheckpoint, AFileThatEndsTooEarlyIsFound) {
  write(4);
  const CheckpointOptions options = go_on();
  const Checkpointer checkpointer(options, kIdentity);
  const std::string whole = contents(options.file);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    SCOPED_TRACE(length);
    folder_.write("state", whole.substr(0, length));
    const std::string message = complaint(checkpointer);
    const char* expected = length < 16 ? "is not a checkpoint" : "ends too early";
    EXPECT_NE(message.find(expected), std::string::npos) << message;
  }
}

TYPED_TEST(CheckpointerTest, ADifferenceToTheOtherSolveIsNamed) {
  this->write(4);
  CheckpointOptions of_a_file = this->go_on();
  of_a_file.identity = {"matrix: K.mtx"};
  const auto expect_named = [&](const CheckpointOptions& options,
                                const std::vector<std::string>& identity,
                                const std::string& difference) {
    const std::string complaint = this->complaint(options, identity);
    EXPECT_NE(complaint.find("is the checkpoint of another solve, with " + difference),
              std::string::npos)
        << complaint;
  };
  expect_named(this->go_on(), {"solver: test", "n: 8"}, "n: 7 in place of n: 8");
  expect_named(this->go_on(), {"solver: test"}, "n: 7 in place of nothing");
  expect_named(of_a_file, kIdentity, "nothing in place of matrix: K.mtx");
  // Norms of the matrix differ with it, but say less.
  expect_named(of_a_file, {"solver: test", "n: 8"}, "nothing in place of matrix: K.mtx");
}

TYPED_TEST(CheckpointerTest, NoFileThatIsThereIsOverwritten) {
  this->write(4);
  const std::string before = contents(this->keep().file);
  EXPECT_NE(this->complaint(this->keep(), kIdentity).find("holds the checkpoint of an earlier"),
            std::string::npos);
  EXPECT_EQ(contents(this->keep().file), before);
  this->folder_.write("state", "all that I have");
  EXPECT_NE(this->complaint(this->keep(), kIdentity).find("is not a checkpoint"),
            std::string::npos);
  EXPECT_EQ(contents(this->keep().file), "all that I have");
}

TYPED_TEST(CheckpointerTest, AMissingFileIsNamed) {
  EXPECT_NE(this->complaint(this->go_on(), kIdentity).find("no checkpoint can be read"),
            std::string::npos);
}

TYPED_TEST(CheckpointerTest, ALinkStaysALink) {
  this->write(4);
  const std::filesystem::path link = this->folder_.path() / "link";
  std::filesystem::create_symlink("state", link);
  const CheckpointOptions options{.file = link, .resume = true};
  Checkpointer checkpointer(options, kIdentity);
  Solve<TypeParam> solve(4);
  solve.resume(checkpointer);
  solve.iterate();
  solve.capture(checkpointer);
  const std::string before = contents(link);
  solve.write(checkpointer);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_NE(contents(this->keep().file), before);
  checkpointer.discard();
  EXPECT_FALSE(std::filesystem::exists(this->keep().file)) << "only the link was removed";
}

TYPED_TEST(CheckpointerTest, AFailureToWriteIsToldAndTheOneBeforeStays) {
  std::string told;
  CheckpointOptions forgiving = this->keep();
  forgiving.on_failure = [&](const std::string& reason) { told = reason; };
  Checkpointer checkpointer(forgiving, kIdentity);
  Solve<TypeParam> solve(4);
  solve.capture(checkpointer);
  solve.write(checkpointer);
  EXPECT_EQ(told, "");
  const std::string before = contents(forgiving.file);
  std::filesystem::create_directory(forgiving.file.string() + ".part");  // where it is written
  solve.iterate();
  solve.capture(checkpointer);
  solve.write(checkpointer);
  EXPECT_NE(told.find("state"), std::string::npos) << told;
  EXPECT_EQ(contents(forgiving.file), before);
}

TYPED_TEST(CheckpointerTest, AFailureToWriteThatNobodyTakesEndsTheSolve) {
  const CheckpointOptions strict = this->keep();
  Checkpointer checkpointer(strict, kIdentity);
  Solve<TypeParam> solve(4);
  solve.capture(checkpointer);
  std::filesystem::create_directory(strict.file.string() + ".part");
  EXPECT_THROW(solve.write(checkpointer), InputError);
  EXPECT_FALSE(std::filesystem::exists(strict.file));
}

TEST(Checkpointer, DiscardRemovesTheFile) {
  const TemporaryFolder folder;
  const CheckpointOptions keep{.file = folder.path() / "state"};
  Checkpointer checkpointer(keep, kIdentity);
  checkpointer.discard();  // nothing was written yet
  Solve<double> solve(4);
  solve.capture(checkpointer);
  solve.write(checkpointer);
  EXPECT_TRUE(std::filesystem::exists(keep.file));
  checkpointer.discard();
  EXPECT_TRUE(test::listing(folder.path()).empty());
}

TEST(Checkpointer, IsDueAfterItsTimeAndAtAStop) {
  const TemporaryFolder folder;
  const CheckpointOptions always{.file = folder.path() / "a", .every_s = 0};
  const CheckpointOptions rarely{.file = folder.path() / "b", .every_s = 1e9};
  const CheckpointOptions none;
  HostContext context(1);
  EXPECT_TRUE(Checkpointer(always, {}).due(context, false));
  EXPECT_FALSE(Checkpointer(rarely, {}).due(context, false));
  EXPECT_TRUE(Checkpointer(rarely, {}).due(context, true));
  EXPECT_FALSE(Checkpointer(none, {}).due(context, true));
}

TEST(Checkpointer, WithoutAFileNothingIsResumed) {
  const CheckpointOptions none{.file = {}, .resume = true};
  EXPECT_FALSE(Checkpointer(none, kIdentity).resumes());
}

}  // namespace
}  // namespace heddle
