#pragma once

#include <fstream>
#include <heddle/apps/config/programs.hpp>
#include <heddle/apps/run_solver.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <support/temporary_folder.hpp>

namespace heddle::apps::test {

/// result.json of heddle-lobpcg in this process, on `device` with the SpMM kernel `kernel` as its
/// YAML file names them. Null if it does not end with success.
inline nlohmann::json solve_with_kernel(const std::string& device, const std::string& kernel) {
  const heddle::test::TemporaryFolder folder;
  const std::string file = folder
                               .write("case.yaml",
                                      "problem: {matrix: {generate: laplace2d, size: [20, 17]}}\n"
                                      "solver: {nev: 4, tolerance: 1e-8}\n"
                                      "output: {directory: " +
                                          (folder.path() / "out").string() +
                                          "}\n"
                                          "device: " +
                                          device + "\nspmm: {kernel: " + kernel + "}\n")
                               .string();
  const char* const arguments[] = {"heddle-lobpcg", file.c_str(), "--quiet"};
  if (run_solver(3, arguments, program_of(SolverType::lobpcg)) != 0) return {};
  return nlohmann::json::parse(std::ifstream(folder.path() / "out" / "result.json"));
}

}  // namespace heddle::apps::test
