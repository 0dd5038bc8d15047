# The package that find_package(heddle) finds, installed or in the build folder. The modules and the
# executables add themselves to the export set where they are made (HeddleTargets).

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/heddleConfig.cmake.in ${PROJECT_BINARY_DIR}/heddleConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/heddleConfigVersion.cmake COMPATIBILITY SameMinorVersion)

install(TARGETS heddle EXPORT heddleTargets)
install(EXPORT heddleTargets NAMESPACE heddle:: DESTINATION ${package_dir})
install(FILES
  ${PROJECT_BINARY_DIR}/heddleConfig.cmake ${PROJECT_BINARY_DIR}/heddleConfigVersion.cmake
  DESTINATION ${package_dir})
foreach(found CHOLMOD METIS NCCL)
  if(HEDDLE_HAS_${found})
    install(FILES ${PROJECT_SOURCE_DIR}/cmake/Find${found}.cmake DESTINATION ${package_dir})
    configure_file(
      ${PROJECT_SOURCE_DIR}/cmake/Find${found}.cmake ${PROJECT_BINARY_DIR}/Find${found}.cmake COPYONLY)
  endif()
endforeach()
export(EXPORT heddleTargets NAMESPACE heddle:: FILE ${PROJECT_BINARY_DIR}/heddleTargets.cmake)

include(HeddlePkgConfig)

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CITATION.cff
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(HEDDLE_BUILD_APPS)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/configs
    FILES_MATCHING PATTERN "*.yaml")
endif()
