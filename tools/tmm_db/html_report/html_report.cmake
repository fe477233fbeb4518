# The HTML report of tmm-db. Chart.js draws the charts; a build without it makes
# everything else, and `tmm-db report` then says what to install.
find_file(TMM_CHART_JS NAMES chart.min.js Chart.min.js
  PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist /usr/local/share/javascript/chart.js NO_DEFAULT_PATH
  DOC "Chart.js 3, minified: what tmm-db report draws with")
set(chart_file "")
set(chart_directory "")
if(TMM_CHART_JS)
  set(chart_file ${TMM_CHART_JS})
  get_filename_component(chart_directory ${TMM_CHART_JS} DIRECTORY)
else()
  message(STATUS "No Chart.js: tmm-db makes no HTML report. Install libjs-chart.js, or name its file with -DTMM_CHART_JS=FILE")
endif()

set(folder ${CMAKE_CURRENT_LIST_DIR})
file(GLOB page_files CONFIGURE_DEPENDS ${folder}/*.html ${folder}/*.css ${folder}/*.js ${folder}/*.json)
set(embed ${tmm_SOURCE_DIR}/cmake/EmbedFiles.cmake)
set(page ${CMAKE_CURRENT_BINARY_DIR}/embedded_page.cpp)
add_custom_command(
  OUTPUT ${page}
  COMMAND ${CMAKE_COMMAND} -DOUT=${page} -DROOT=${folder} -DFUNCTION=embedded_page "-DFILES=${page_files}" -P ${embed}
  DEPENDS ${page_files} ${embed}
  VERBATIM)
set(library ${CMAKE_CURRENT_BINARY_DIR}/embedded_chart_library.cpp)
add_custom_command(
  OUTPUT ${library}
  COMMAND ${CMAKE_COMMAND} -DOUT=${library} "-DROOT=${chart_directory}" -DFUNCTION=embedded_chart_library "-DFILES=${chart_file}" -P ${embed}
  DEPENDS ${chart_file} ${embed}
  VERBATIM)

file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
target_sources(tmm_db_tool PRIVATE ${sources} ${page} ${library})
