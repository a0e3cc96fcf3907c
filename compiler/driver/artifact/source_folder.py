"""A model as a folder of C sources that compiles by itself: with ``make``, gcc or clang, and libc."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import mlc
from mlc.driver.artifact.c_header import header
from mlc.driver.artifact.output_files import staged
from mlc.driver.artifact.write_artifact import DATA, Generated, embedded
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.toolchain.c_compiler import CFLAGS, LDFLAGS, LIBRARIES, OPTIONAL, OPTIONAL_OF_ZIG, ZIG_NAMES
from mlc.driver.toolchain.c_sources import COMPILED, CSource, encoded, runtime_for, runtime_sources
from mlc.driver.toolchain.external_libraries import LIBRARIES as EXTERNAL
from mlc.driver.toolchain.hidden_names import INCLUDE, with_hidden_names
from mlc.errors import OutputError
from mlc.options import Options
from mlc.pipelines.backends import backend_of
from mlc.runtime.sealed import SONAME_ROOM

MARK = "# Written by mlc"
MAKEFILE = """@MARK@ @VERSION@: model '@PREFIX@' for @TARGET@.
#
#   make                     @PREFIX@.a and @PREFIX@.so, with any gcc or clang
#   make CC="zig cc" AR="zig ar"
#   cc program.c -I. @PREFIX@.a @LIBRARIES@
OBJECTS = @OBJECTS@
CFLAGS = -O2
ISA = @ISA@
known = $(shell $(CC) $(1) -E -x c /dev/null >/dev/null 2>&1 && echo $(1))
FLAGS := @FLAGS@ $(foreach flag,@OPTIONAL@,$(call known,$(flag)))@CFLAGS@
LIBRARIES = @LIBRARIES@
ifneq (,$(findstring zig,$(CC)))
@ZIG@
endif

all: @PREFIX@.a @PREFIX@.so
@PREFIX@.a: $(OBJECTS)
	$(AR) rcs $@ $^
@PREFIX@.so: $(OBJECTS)
	$(CC) @LDFLAGS@ -o $@ $^ $(LIBRARIES)
# The runtime does without, as it checks what the CPU has.
@MODEL_OBJECTS@: FLAGS += $(ISA)
$(OBJECTS): Makefile $(wildcard *.h *.bin)
%.c.o: %.c
	$(CC) $(FLAGS) $(CFLAGS) @INCLUDE@ -c $< -o $@
%.S.o: %.S
	$(CC) $(FLAGS) $(CFLAGS) @INCLUDE@ -c $< -o $@
clean:
	rm -f @PREFIX@.a @PREFIX@.so $(OBJECTS)
.PHONY: all clean
"""


@dataclass(frozen=True)
class SourceFolder:
    """The folder of a model that has been lowered: it takes the place of one that mlc wrote, and of nothing else."""

    code: Generated
    options: Options

    def install(self, out: Path) -> list[Path]:
        """Write the folder ``out`` by one rename and return its files. If that fails, raise OutputError and leave
        no file.
        """
        refuse_other(out)
        with staged(out) as folder:
            new = folder / "new"
            new.mkdir()
            self._write(new)
            if out.exists():
                os.rename(out, folder / "old")
            os.rename(new, out)
        return sorted(out.iterdir())

    def _write(self, folder: Path) -> None:
        prefix, weights = self.code.prefix, self.code.signature["weights"]
        sources = {**runtime_for(self.code.families), **self._compiled()}
        if weights["bytes"] and not weights["file"]:
            sources |= embedded(self.code, folder)
        elif weights["file"]:
            self.code.weights_writer(folder / weights["file"])
        for name, text in with_hidden_names(sources, prefix, DATA).items():
            (folder / name).write_bytes(encoded(text))
        (folder / f"{prefix}.h").write_text(header(prefix, self.code.signature))
        units = sorted(name for name in sources if name.endswith(COMPILED))
        (folder / "Makefile").write_text(self._makefile(units))

    def _compiled(self) -> Mapping[str, CSource]:
        """The generated code with compiled GPU kernels, so that the folder needs a C compiler alone."""
        return backend_of(self.options.target).c_sources(self.code.sources, Cache.default())

    def _makefile(self, units: Sequence[str]) -> str:
        target, prefix = self.options.target, self.code.prefix
        modules = " ".join(library.module for family in self.code.families for library in EXTERNAL.get(family, ()))
        wide = [flag for flag in target.cflags if flag in OPTIONAL]
        values = {
            "MARK": MARK, "VERSION": mlc.__version__, "PREFIX": prefix, "TARGET": target.name,
            "ISA": " ".join(flag for flag in target.cflags if flag not in OPTIONAL),
            "FLAGS": " ".join(flag for flag in CFLAGS if flag != "-O2"),
            "OPTIONAL": " ".join(dict.fromkeys((*OPTIONAL[:2], *wide))),
            "CFLAGS": f" $(shell pkg-config --cflags {modules})" if modules else "",
            "LIBRARIES": " ".join(["-pthread", *LIBRARIES, *[f"$(shell pkg-config --libs {modules})"] * bool(modules)]),
            "LDFLAGS": " ".join(LDFLAGS).replace(SONAME_ROOM, f"{prefix}.so"),
            "INCLUDE": " ".join(INCLUDE),
            "ZIG": "\n".join(f"ISA := $(patsubst {flag},{_known(own)},$(ISA))" for flag, own in ZIG_NAMES.items()),
            "OBJECTS": " ".join(f"{unit}.o" for unit in units),
            "MODEL_OBJECTS": " ".join(f"{unit}.o" for unit in units if unit not in runtime_sources()),
        }  # fmt: skip
        return filled(MAKEFILE, values)


def _known(flags: Sequence[str]) -> str:
    """Flags for a makefile, without optional ones that the compiler does not know."""
    return " ".join(f"$(call known,{flag})" if flag in OPTIONAL_OF_ZIG else flag for flag in flags)


def filled(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


def refuse_other(out: Path) -> None:
    """Raise OutputError where ``out`` exists and is not a folder that mlc wrote, so that no file of the user's is
    deleted.
    """
    makefile = out / "Makefile"
    ours = makefile.is_file() and makefile.read_text(errors="replace").startswith(MARK)
    if out.exists() and not ours and not (out.is_dir() and not any(out.iterdir())):
        hint = "Remove it, or give the folder another name"
        raise OutputError(f"{out} exists, and is not a folder that mlc wrote", stage="output", hint=hint)
