#pragma once

#include <CLI/CLI.hpp>
#include <heddle/linalg/edge_list/edge_list.hpp>
#include <string>

/// The option that says what the first line of an edge list holds.
namespace heddle::apps {

inline void add_first_line_option(CLI::App& app, FirstLine& first_line) {
  app.add_option_function<std::string>(
         "--first-line",
         [&first_line](const std::string& word) {
           first_line = word == "edge"    ? FirstLine::edge
                        : word == "sizes" ? FirstLine::sizes
                                          : FirstLine::automatic;
         },
         "what the first line of an edge list holds: an edge, or the sizes of the list")
      ->check(CLI::IsMember({"auto", "edge", "sizes"}).description(""))
      ->type_name("auto|edge|sizes");
}

}  // namespace heddle::apps
