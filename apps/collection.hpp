#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Matrices of the SuiteSparse Matrix Collection as inputs, named SuiteSparse:GROUP/NAME. They lie
/// in a cache that the program heddle-fetch of heddle's Python package fills.
namespace heddle::apps {

/// A matrix of the collection, or another file of its archive.
struct CollectionName {
  std::string group;
  std::string name;
  std::string part;  ///< of the file NAME_PART.mtx; empty for the matrix

  /// GROUP/NAME or GROUP/NAME:PART.
  std::string describe() const;
};

/// The matrix that SuiteSparse:GROUP/NAME or SuiteSparse:GROUP/NAME:PART names, none if `text` has
/// another form.
std::optional<CollectionName> parse_collection_name(std::string_view text);

/// The message on a name that `parse_collection_name` does not know.
std::string describe_collection_names(std::string_view text);

/// The folder of the cache: HEDDLE_DATA, else heddle in XDG_CACHE_HOME, else ~/.cache/heddle.
std::filesystem::path data_folder();

/// The place of a matrix in the cache, whether or not it is there.
std::filesystem::path cached_file(const CollectionName& name);

/// The file of the matrix that `text` names. If it is not in the cache, this runs heddle-fetch,
/// which may take long and tells its progress on stderr. Throws `InvalidArgument` for another form
/// of `text`, `InputError` if the matrix cannot be had.
std::filesystem::path collection_file(std::string_view text);

}  // namespace heddle::apps
