# Pages of the C++ API by Doxygen, where that is found: the target docs-api makes docs-api/html in the
# build folder, and a test says whether every public name has a comment.

find_package(Doxygen 1.9 QUIET)
find_package(Python3 QUIET COMPONENTS Interpreter)
if(NOT DOXYGEN_FOUND OR NOT Python3_FOUND)
  return()
endif()

get_property(headers GLOBAL PROPERTY heddle_public_headers)
list(JOIN headers " \\\n  " HEDDLE_DOCS_HEADERS)
file(GLOB folders ${PROJECT_BINARY_DIR}/include/*)
list(JOIN folders " " HEDDLE_DOCS_FOLDERS)
foreach(HEDDLE_DOCS_HTML IN ITEMS YES NO)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/Doxyfile.in
    ${PROJECT_BINARY_DIR}/docs-api/Doxyfile.${HEDDLE_DOCS_HTML} @ONLY)
endforeach()
add_custom_target(docs-api
  COMMAND ${DOXYGEN_EXECUTABLE} ${PROJECT_BINARY_DIR}/docs-api/Doxyfile.YES
  COMMENT "Pages of the C++ API in ${PROJECT_BINARY_DIR}/docs-api/html" VERBATIM)
