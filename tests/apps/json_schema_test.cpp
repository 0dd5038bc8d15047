#include <gtest/gtest.h>

#include <apps/config_support.hpp>
#include <filesystem>
#include <heddle/apps/config/json.hpp>
#include <heddle/apps/config/json_schema.hpp>
#include <heddle/apps/config/schema.hpp>
#include <heddle/apps/config/yaml.hpp>
#include <string>
#include <support/json_schema.hpp>
#include <support/source_dir.hpp>
#include <support/temporary_folder.hpp>

namespace heddle::apps {
namespace {

using test::error_of;

const heddle::test::JsonSchema& schema() {
  static const heddle::test::JsonSchema parsed(nlohmann::json::parse(config_json_schema()));
  return parsed;
}

bool is_valid(const std::string& yaml) {
  return schema().accepts(to_json(parse_yaml(yaml, std::make_shared<const ConfigSource>())));
}

TEST(JsonSchema, EveryRecipeIsValid) {
  int count = 0;
  for (const std::filesystem::path& file : heddle::test::recipe_files()) {
    EXPECT_TRUE(is_valid(heddle::test::contents(file))) << file;
    ++count;
  }
  EXPECT_GE(count, 15);
}

TEST(JsonSchema, WhatItAcceptsTheProgramAccepts) {
  for (const std::string yaml :
       {"problem: {matrix: a.mtx}", "problem: {matrix: a.mtx}\nsolver:\noutput:\n",
        "problem: {matrix: a.mtx}\nsolver: {nev: 3, which: largest}",
        "problem: {matrix: {generate: laplace2d, size: [4, 5]}, mass: b.mtx}",
        "problem: {matrix: a.mtx, rhs: {random: 3}}",
        "problem: {matrix: a.mtx, rhs: {unit: [1, 2]}}\nsolver: {type: block_cg}",
        "problem: {matrix: a.mtx}\nsolver: {type: auto, which: interval, interval: [-1, 2.5]}",
        "problem: {matrix: a.mtx}\nsolver: {type: auto, which: interval, interval: [-inf, 2.5]}",
        "problem: {matrix: a.mtx}\nsolver: {tolerance: 1e-6, time_limit_s: none}",
        "problem: {matrix: a.mtx}\nsolver: {preconditioner: {type: chebyshev, degree: 4}}",
        "problem: {matrix: a.mtx}\noutput: {eigenvectors: true, history: false}",
        "problem: {matrix: a.mtx}\ncheckpoint: {file: state, every_s: 10}"}) {
    EXPECT_TRUE(is_valid(yaml)) << yaml;
    EXPECT_EQ(error_of(yaml, {}, SolverType::automatic), "") << yaml;
  }
}

TEST(JsonSchema, WhatItRefusesTheProgramRefuses) {
  const std::string matrix = "problem: {matrix: a.mtx}\n";
  for (const std::string& yaml : {
           std::string("solver: {nev: 3}"),  // no problem.matrix
           std::string("problem: {}"),
           std::string("problem:"),
           std::string("problem: {matrix: a.mtx, masss: b.mtx}"),
           std::string("problem: {matrix: [a.mtx]}"),
           std::string("problem: {matrix: {generate: laplace2d}}"),
           std::string("problem: {matrix: {generate: laplace9d, size: [4]}}"),
           std::string("problem: {matrix: {generate: laplace1d, size: 4}}"),
           std::string("problem: {matrix: {generate: laplace1d, size: []}}"),
           std::string("problem: {matrix: {generate: laplace1d, size: [0]}}"),
           std::string("problem: {matrix: a.mtx, rhs: {random: 1, ones: 1}}"),
           matrix + "solver: {type: lobcpg}",
           matrix + "solver: {nev: 0}",
           matrix + "solver: {nev: 1.5}",
           matrix + "solver: {nev: many}",
           matrix + "solver: {tolerance: 0}",
           matrix + "solver: {tolerance: 1}",
           matrix + "solver: {which: middle}",
           matrix + "solver: {interval: [1]}",
           matrix + "solver: {type: lobpcg, filter: none}",
           matrix + "solver: {type: lobpcg, which: interval}",
           matrix + "solver: {type: block_lanczos, preconditioner: {type: jacobi}}",
           matrix + "solver: {type: block_cg, nev: 3}",
           matrix + "solver: {type: block_cg}",  // no problem.rhs
           matrix + "device: gpu9",
           matrix + "threads: -1",
           matrix + "threads: 4097",
           matrix + "output: {directory: [out]}",
           matrix + "checkpoint: {every_s: 1}",
       }) {
    EXPECT_FALSE(is_valid(yaml)) << yaml;
    EXPECT_NE(error_of(yaml, {}, SolverType::automatic), "") << yaml;
  }
}

TEST(JsonSchema, EveryKeyIsThereWithItsMeaning) {
  const auto json = nlohmann::json::parse(config_json_schema());
  for (const SolverType solver : kSolverTypes) {
    for (const KeySpec& spec : config_schema()) {
      if (!spec.applies_to(solver)) continue;
      std::string_view rest = spec.path;
      const nlohmann::json* node = &json["definitions"][std::string(method_name(solver))];
      while (!rest.empty()) {
        const auto dot = rest.find('.');
        const auto* object = node;
        if (node->contains("anyOf")) {
          for (const auto& one : node->at("anyOf")) {
            if (one.contains("properties")) object = &one;
          }
        }
        node = &object->at("properties").at(std::string(rest.substr(0, dot)));
        rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
      }
      const std::string meaning = node->at("description");
      EXPECT_NE(meaning.find(spec.doc), std::string::npos) << spec.path;
    }
  }
}

TEST(JsonSchema, HoldsDefaults) {
  const auto json = nlohmann::json::parse(config_json_schema());
  const auto& solver =
      json.at("definitions").at("lobpcg").at("properties").at("solver").at("properties");
  EXPECT_EQ(solver.at("nev").at("default"), "auto");
  EXPECT_EQ(solver.at("which").at("default"), "smallest");
  EXPECT_FALSE(solver.at("type").contains("default"));
}

}  // namespace
}  // namespace heddle::apps
