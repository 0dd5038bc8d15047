#include <gtest/gtest.h>

#include <heddle/apps/config/field_keys.hpp>
#include <heddle/apps/config/settings.hpp>
#include <heddle/apps/config/yaml.hpp>
#include <heddle/drivers/team/followers.hpp>
#include <memory>
#include <string>
#include <vector>

namespace heddle::apps {
namespace {

using detail::Field;
using detail::FieldTable;

/// A request with one field more than heddle's.
struct TwistedRequest : Request {
  Index twist = 3;
};

/// The one row of the field.
const FieldTable<TwistedRequest>& table() {
  static const FieldTable<TwistedRequest> rows = [] {
    FieldTable<TwistedRequest> made;
    detail::FieldRow<TwistedRequest>(made, "solver.twist", "turns per iteration",
                                     [](auto& r) -> auto& { return r.twist; }, {{"auto", 0}})
        .integer(detail::kCount)
        .readers(detail::kLobpcg)
        .option("--twist")
        .aliases({"turns"});
    return made;
  }();
  return rows;
}

class FieldKeys : public ::testing::Test {
 protected:
  FieldKeys() {
    request = {};
    add_field_keys(
        keys_, table(), "solver", +[](Config&) -> TwistedRequest& { return request; });
  }

  /// Stores the value that stands in `text` as a configuration does.
  void store(const ConfigNode& value) {
    ASSERT_TRUE(keys_.front().forms.accepts(value));
    Config config;
    keys_.front().store(value, config);
  }

  static ConfigNode yaml(const std::string& text) {
    return parse_yaml(text, std::make_shared<const ConfigSource>(ConfigSource{"case.yaml", {}}));
  }

  inline static TwistedRequest request;
  std::vector<KeySpec> keys_;
};

TEST_F(FieldKeys, ARowIsAKeyWithItsDocumentation) {
  ASSERT_EQ(keys_.size(), 1u);
  const KeySpec& key = keys_.front();
  EXPECT_EQ(key.path, "solver.twist");
  EXPECT_EQ(key.doc, "turns per iteration");
  EXPECT_EQ(key.fallback, "3");
  EXPECT_EQ(key.forms.describe(), "auto or an integer of at least 1");
  EXPECT_EQ(key.only_for, (std::vector{SolverType::lobpcg, SolverType::automatic}));
  EXPECT_EQ(key.option, "--twist");
  EXPECT_EQ(key.aliases.size(), 1u);
}

TEST_F(FieldKeys, ARowArrivesThroughYaml) {
  store(yaml("5"));
  EXPECT_EQ(request.twist, 5);
  store(yaml("auto"));
  EXPECT_EQ(request.twist, 0);
  for (const std::string bad : {"0", "x", "1.5", "[1]", "\"5\""}) {
    EXPECT_FALSE(keys_.front().forms.accepts(yaml(bad))) << bad;
  }
}

TEST_F(FieldKeys, ARowArrivesThroughItsOption) {
  ConfigNode tree;
  apply_setting(tree, {&keys_.front(), {"7"}});
  const ConfigNode* value = tree.find("solver")->find("twist");
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(value->origin.describe(), "--twist 7");
  store(*value);
  EXPECT_EQ(request.twist, 7);
}

TEST_F(FieldKeys, ARowArrivesThroughItsKeyword) {
  const Field<TwistedRequest>* field = field_of_keyword(table(), "twist");
  ASSERT_NE(field, nullptr);
  EXPECT_TRUE(field->set(request, Index{9}));
  EXPECT_EQ(request.twist, 9);
  EXPECT_FALSE(field->set(request, std::string("x")));
  EXPECT_EQ(request.twist, 9);
  EXPECT_TRUE(field->is_valid(request));
  request.twist = -1;
  EXPECT_FALSE(field->is_valid(request));
}

TEST_F(FieldKeys, ARowArrivesInAnotherProcess) {
  TwistedRequest arrived;
  request.twist = 11;
  const auto broadcast = [](Processes& processes, std::vector<std::byte>& memory) {
    std::size_t size = memory.size();
    processes.broadcast(&size, sizeof size);
    memory.resize(size);
    processes.broadcast(memory.data(), size);
  };
  {
    const detail::Followers team(2, {[&](const std::shared_ptr<Processes>& processes) {
                                       std::vector<std::byte> memory;
                                       broadcast(*processes, memory);
                                       detail::Archive archive(memory, detail::Archive::Mode::load);
                                       detail::pass(archive, table(), arrived);
                                     },
                                     [&](Processes& processes) {
                                       std::vector<std::byte> memory;
                                       detail::Archive archive(memory, detail::Archive::Mode::save);
                                       detail::pass(archive, table(), request);
                                       broadcast(processes, memory);
                                     }});
  }
  EXPECT_EQ(arrived.twist, 11);
}

}  // namespace
}  // namespace heddle::apps
