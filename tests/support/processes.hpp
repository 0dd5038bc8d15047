#pragma once

#include <gtest/gtest.h>

#include <heddle/linalg/context/processes.hpp>
#include <memory>

namespace heddle::test {

/// The processes that run the same tests, null if there is one. MPI ends with the program.
inline const std::shared_ptr<Processes>& processes() {
  static const std::shared_ptr<Processes> started = started_processes();
  return started;
}

/// A test that several processes run together. Assertions must not end a test early on one of them,
/// because the others would wait.
class OnProcesses : public testing::Test {
 protected:
  void SetUp() override {
    if (!processes()) GTEST_SKIP() << "one process only: start it by mpirun -n 2";
  }

  HostContext together_{1, processes()};  ///< the rows are distributed
  HostContext alone_{1};                  ///< this process has all rows
};

}  // namespace heddle::test
