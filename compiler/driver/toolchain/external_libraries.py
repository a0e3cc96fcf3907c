"""External libraries that the runtime library functions of some models call, found through pkg-config.

Only ImageDecoder has any: every other model needs libc alone.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mlc.driver.toolchain import processes
from mlc.errors import ToolchainError
from mlc.target import Target


@dataclass(frozen=True)
class ExternalLibrary:
    """A library: its name, its pkg-config module, and the packages of Debian, Fedora and Homebrew with its headers."""

    name: str
    module: str
    debian: str
    fedora: str
    homebrew: str

    @property
    def packages(self) -> str:
        return f"{self.debian} (Debian), {self.fedora} (Fedora) or {self.homebrew} (Homebrew)"


PKG_CONFIG = ExternalLibrary("pkg-config", "", "pkg-config", "pkgconf-pkg-config", "pkgconf")
LIBRARIES: Mapping[str, tuple[ExternalLibrary, ...]] = {
    "image": (
        ExternalLibrary("libjpeg-turbo", "libjpeg", "libjpeg-dev", "libjpeg-turbo-devel", "jpeg-turbo"),
        ExternalLibrary("libpng", "libpng", "libpng-dev", "libpng-devel", "libpng"),
        ExternalLibrary("libwebp", "libwebp", "libwebp-dev", "libwebp-devel", "webp"),
        ExternalLibrary("libtiff", "libtiff-4", "libtiff-dev", "libtiff-devel", "libtiff"),
        ExternalLibrary("OpenJPEG", "libopenjp2", "libopenjp2-7-dev", "openjpeg2-devel", "openjpeg"),
    )
}
"""The libraries of each family of runtime library functions (``image.decode`` is of the family ``image``)."""


@dataclass(frozen=True)
class ExternalFlags:
    """The C compiler's and the linker's flags for libraries, and the libraries' versions by pkg-config module."""

    compile: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    versions: tuple[tuple[str, str], ...] = ()


def external_flags(families: Iterable[str], target: Target) -> ExternalFlags:
    """The flags for the libraries that the runtime library functions of these families call.

    ToolchainError if a library, or pkg-config, is missing: it names the packages to install.
    """
    libraries = [library for family in families for library in LIBRARIES.get(family, ())]
    if not libraries:
        return ExternalFlags()
    command = _command(target)
    versions = tuple((library.module, _version(command, library, target)) for library in libraries)
    modules = [library.module for library in libraries]
    return ExternalFlags(
        tuple(_asked(command, "--cflags", *modules)), tuple(_asked(command, "--libs", *modules)), versions
    )


def _command(target: Target) -> list[str]:
    """pkg-config of the target: $PKG_CONFIG, else the plain one here and the one with the target's triple elsewhere."""
    if given := os.environ.get("PKG_CONFIG"):
        return shlex.split(given)
    here = target.arch == platform.machine()
    name = "pkg-config" if here else f"{target.arch}-linux-gnu-pkg-config"
    if shutil.which(name):
        return [name]
    hint = f"Install {PKG_CONFIG.packages}" if here else f"Provide {name}, or name one in $PKG_CONFIG"
    message = f"There is no {name}, which finds the libraries that ImageDecoder calls"
    raise ToolchainError(message, stage="code", hint=hint)


def _version(command: list[str], library: ExternalLibrary, target: Target) -> str:
    found = _asked(command, "--modversion", library.module)
    if not found:
        what = f"{library.name} (pkg-config module '{library.module}')"
        message = f"ImageDecoder calls {what}, which is missing for {target.arch}"
        raise ToolchainError(message, stage="code", hint=f"Install {library.packages}")
    return found[0]


def _asked(command: list[str], *arguments: str) -> list[str]:
    """The output of pkg-config, split at white space; empty if it fails."""
    done = processes.asked([*command, *arguments])
    return [] if isinstance(done, str) else shlex.split(done.stdout)
