"""Files by which build systems find an artifact: a CMake package and a pkg-config module, movable with its folder."""

from __future__ import annotations

import re
from collections.abc import Mapping

CMAKE = """# A compiled model. In CMakeLists.txt: find_package(@STEM@ CONFIG PATHS folder), and with that
# target_link_libraries(program mlc::@PREFIX@)
if(NOT TARGET mlc::@PREFIX@)
  add_library(mlc::@PREFIX@ SHARED IMPORTED)
  set_target_properties(mlc::@PREFIX@ PROPERTIES
    IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/@STEM@.so"
    IMPORTED_SONAME "@STEM@.so"
    INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}")
endif()
"""
CMAKE_STATIC = """# A compiled model. In CMakeLists.txt: find_package(@STEM@ CONFIG PATHS folder), and with that
# target_link_libraries(program mlc::@PREFIX@)
if(NOT TARGET mlc::@PREFIX@)
  find_package(Threads REQUIRED)
  add_library(mlc::@PREFIX@ INTERFACE IMPORTED)
  set_target_properties(mlc::@PREFIX@ PROPERTIES
    INTERFACE_LINK_LIBRARIES "${CMAKE_CURRENT_LIST_DIR}/@STEM@@SUFFIX@;Threads::Threads;m;${CMAKE_DL_LIBS}"
    INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}")
endif()
"""
CMAKE_WEIGHTS = """# To be installed beside the @PLACE@.
set(@PREFIX@_WEIGHTS "${CMAKE_CURRENT_LIST_DIR}/@WEIGHTS@")
"""
PKG_CONFIG = """Name: @PREFIX@
Description: A model compiled by mlc
Version: @VERSION@
Cflags: -I${pcfiledir}
Libs: -L${pcfiledir} -l:@STEM@@SUFFIX@@LIBRARIES@
"""


def package_files(library: str, prefix: str, version: str, weights: str | None) -> Mapping[str, str]:
    """File name -> text for the file ``library``, whose symbols begin with ``prefix``; mlc's ``version``, the name
    of the weights file if there is one."""
    stem, _, suffix = library.rpartition(".")
    static = suffix != "so"
    libraries = " -pthread -lm -ldl" if static else ""

    def filled(text: str, special: str) -> str:
        def quoted(name: str) -> str:
            return re.sub(f"[{special}]", r"\\\g<0>", name)

        values = {
            "STEM": quoted(stem), "SUFFIX": f".{suffix}", "PREFIX": prefix, "VERSION": version, "LIBRARIES": libraries,
            "WEIGHTS": quoted(weights or ""), "PLACE": "program" if static else "library",
        }  # fmt: skip
        return re.sub("@([A-Z]+)@", lambda found: values[found[1]], text)

    cmake = filled((CMAKE_STATIC if static else CMAKE) + (CMAKE_WEIGHTS if weights else ""), r'\\"$;')
    return {f"{stem}Config.cmake": cmake, f"{stem}.pc": filled(PKG_CONFIG, r'\\"$# ')}
