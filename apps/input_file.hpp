#pragma once

#include <filesystem>
#include <heddle/apps/collection.hpp>
#include <heddle/apps/standard_input.hpp>
#include <heddle/drivers/problem/matrix_argument.hpp>
#include <string>
#include <string_view>

/// Inputs by what names them: the path of a file, `-` for standard input, or SuiteSparse:GROUP/NAME
/// for a matrix of the collection.
namespace heddle::apps {

/// Whether `input` is the path of a file.
bool is_path(const std::filesystem::path& input);

/// The file that holds the content of `input`. It does not exist if `input` is the path of no file,
/// or a matrix of the collection that was not fetched. Throws as `standard_input_file`.
std::filesystem::path existing_file(const std::filesystem::path& input);

/// Whether the numbers of `input` are complex, as its file says. False for an empty name. A matrix
/// of the collection is fetched if it is missing. Throws as `collection_file` and
/// `standard_input_file`.
bool holds_complex(const std::filesystem::path& input);

/// The same of a matrix that a file, the collection or a generator gives.
bool names_complex_matrix(const std::string& argument);

/// Returns read(path) for the file with the content of `input`. Standard input is read for
/// `reader`, once (see `claim_standard_input`). A matrix of the collection is fetched if it is
/// missing (see `collection_file`).
template <class Read>
auto read_input(const std::filesystem::path& input, std::string_view reader, Read&& read) {
  if (detail::names_collection_matrix(input.native())) {
    return read(collection_file(input.native()));
  }
  if (input != kStandardInput) return read(input);
  try {
    return read(claim_standard_input(reader));
  } catch (const InputError& error) {
    throw about_standard_input(error);
  }
}

}  // namespace heddle::apps
