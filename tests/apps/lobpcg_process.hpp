#pragma once

#include <apps/solver_process.hpp>

namespace heddle::apps::test {

/// Runs heddle-lobpcg in a folder of its own.
class LobpcgProcess : public SolverProcess {
 protected:
  LobpcgProcess() : SolverProcess("heddle-lobpcg") {}
};

}  // namespace heddle::apps::test
