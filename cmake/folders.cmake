# Reads the folder table of ARCHITECTURE.md and makes one library and one test program per folder,
# linked with exactly the arrows that the table names.

# Libraries from outside, each linked by the one folder that is its door.
set(EXTERNAL_base fmt::fmt spdlog::spdlog Threads::Threads)
set(EXTERNAL_json Boost::json)
set(EXTERNAL_crypto OpenSSL::Crypto)
set(EXTERNAL_sqlite SQLite::SQLite3)
set(EXTERNAL_net Boost::boost Boost::system OpenSSL::SSL OpenSSL::Crypto)
set(EXTERNAL_placement PkgConfig::RE2)
set(EXTERNAL_gpu ${CMAKE_DL_LIBS})
set(EXTERNAL_cli CLI11::CLI11)

# What takes seconds to compile, as the generated shapes and the test libraries do, is compiled once
# for all who may include it, not once a file: a folder takes the precompiled headers of the last of
# these folders that it is or that its arrows name.
set(PRECOMPILED_api <algorithm> <functional> <map> <optional> <string> <variant> <vector>
                    ${CMAKE_SOURCE_DIR}/src/base/format.h ${CMAKE_SOURCE_DIR}/src/base/result.h
                    ${CMAKE_SOURCE_DIR}/src/api/generated/ecs.h)
set(PRECOMPILED_model ${PRECOMPILED_api} ${CMAKE_SOURCE_DIR}/src/json/value.h
                      ${CMAKE_SOURCE_DIR}/src/model/change.h)
set(PRECOMPILED_control ${PRECOMPILED_model} ${CMAKE_SOURCE_DIR}/src/api/berth.h
                        ${CMAKE_SOURCE_DIR}/src/api/generated/autoscaling.h
                        ${CMAKE_SOURCE_DIR}/src/control/actions/action.h)
set(TEST_PRECOMPILED_control ${CMAKE_SOURCE_DIR}/src/control/testing.h)
set(precompiling_folders control model api)
set(PRECOMPILED_sim ${PRECOMPILED_control} ${CMAKE_SOURCE_DIR}/src/sim/world.h)  # For its own files.

macro(precompile_headers_of target)
  add_compile_options(-fpch-instantiate-templates "SHELL:-Xclang -fno-pch-timestamp")
  target_precompile_headers(berth_${target} PRIVATE ${PRECOMPILED_${target}})
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${target}_test_headers.cpp CONTENT "")
  add_library(berth_${target}_test_headers OBJECT ${CMAKE_BINARY_DIR}/${target}_test_headers.cpp)
  target_link_libraries(berth_${target}_test_headers PRIVATE berth_${target} GTest::gmock rapidcheck)
  target_compile_options(berth_${target}_test_headers PRIVATE -O0)
  target_precompile_headers(berth_${target}_test_headers PRIVATE ${PRECOMPILED_${target}} <gmock/gmock.h>
                            <rapidcheck/gtest.h> ${TEST_PRECOMPILED_${target}})
endmacro()

file(STRINGS ${CMAKE_SOURCE_DIR}/ARCHITECTURE.md folder_rows REGEX "^src/[a-z_/]+/ .* -> ")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/ARCHITECTURE.md)

set(folder_names "")
foreach(row ${folder_rows})
  string(REGEX REPLACE "^src/([a-z_/]+)/ .*" "\\1" folder "${row}")
  list(APPEND folder_names ${folder})
endforeach()

foreach(row ${folder_rows})
  string(REGEX REPLACE "^src/([a-z_/]+)/ .*" "\\1" folder "${row}")
  string(REGEX REPLACE ".* -> (.*)$" "\\1" arrows "${row}")
  string(REPLACE " " ";" arrows "${arrows}")
  list(REMOVE_ITEM arrows nothing)
  string(REPLACE "/" "_" target ${folder})

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.cpp)
  foreach(other ${folder_names})  # A folder of its own inside this one is not part of it.
    if(other MATCHES "^${folder}/")
      list(FILTER sources EXCLUDE REGEX "/src/${other}/")
    endif()
  endforeach()
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  set(benches ${sources})
  list(FILTER benches INCLUDE REGEX "_bench\\.cpp$")
  set(fuzzers ${sources})
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench|fuzz)\\.cpp$")
  if(NOT sources)
    continue()
  endif()

  set(links "")
  foreach(arrow ${arrows})
    string(REPLACE "/" "_" arrow ${arrow})
    list(APPEND links berth_${arrow})
  endforeach()

  if(folder STREQUAL "main")
    add_executable(berth ${sources})
    target_link_libraries(berth PRIVATE ${links})
    set_target_properties(berth PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
    continue()
  endif()

  add_library(berth_${target} STATIC ${sources})
  target_link_libraries(berth_${target} PUBLIC ${links} ${EXTERNAL_${target}})
  set(precompiled "")
  foreach(other ${precompiling_folders})
    if(NOT precompiled AND (target STREQUAL other OR other IN_LIST arrows))
      set(precompiled ${other})
    endif()
  endforeach()
  if(target STREQUAL precompiled)
    precompile_headers_of(${target})
  elseif(PRECOMPILED_${target})
    target_precompile_headers(berth_${target} PRIVATE ${PRECOMPILED_${target}})
  elseif(precompiled)
    target_precompile_headers(berth_${target} REUSE_FROM berth_${precompiled})
  endif()
  if(tests)
    add_executable(${target}_test ${tests})
    target_link_libraries(${target}_test PRIVATE berth_${target} GTest::gmock GTest::gtest_main rapidcheck)
    target_compile_options(${target}_test PRIVATE -O0)
    target_compile_definitions(${target}_test PRIVATE BERTH_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    if(precompiled)
      target_precompile_headers(${target}_test REUSE_FROM berth_${precompiled}_test_headers)
    endif()
    add_test(NAME ${target} COMMAND ${target}_test)
    set_tests_properties(${target} PROPERTIES TIMEOUT 600)
  endif()
  if(benches)
    add_executable(${target}_bench EXCLUDE_FROM_ALL ${benches})
    target_link_libraries(${target}_bench PRIVATE berth_${target} benchmark::benchmark_main)
  endif()
  if(BERTH_FUZZ)
    foreach(fuzzer ${fuzzers})
      get_filename_component(name ${fuzzer} NAME_WE)
      add_executable(${name} ${fuzzer})
      target_link_libraries(${name} PRIVATE berth_${target})
      target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
endforeach()
