"""``mlc.jit``: a Python function on arrays as one compiled program for each structure of its arguments."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlc.api import make_options
from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.dialects.types import Shape, numpy_dtype
from mlc.errors import InputError
from mlc.frontends.array import dtypes, trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.located import defined_at, located
from mlc.frontends.array.public import ArgumentError
from mlc.frontends.array.record import Record, new_argument, ordered, where_called
from mlc.frontends.array.transforms.captured import with_tables
from mlc.frontends.build.symbols import parse_open_dim
from mlc.keywords import keywords_checked
from mlc.options import Options
from mlc.runtime import TensorSpec
from mlc.runtime.arrays import as_numpy
from mlc.runtime.signature import GuardError
from mlc.tracing import methods
from mlc.tracing.donation import Aliases, check_distinct, given_away, matched
from mlc.tracing.parameters import Parameters, name_of, parameter_named, several
from mlc.tracing.repeat import Repeat, never, repeated
from mlc.tracing.stateful import Stateful
from mlc.tracing.traced import Traced

if TYPE_CHECKING:
    from mlc.comm.mesh import Mesh

LARGE = 64 << 20  # bytes of captured arrays, of which a user is warned

Type = tuple[str, Shape]
Key = tuple[Any, ...]


class Default:
    """The default value of a parameter that a call leaves out. It is part of the program."""

    def __repr__(self) -> str:
        return "its default"


DEFAULT = Default()


class Jitted:
    """A function whose calls run compiled programs; made by ``jit``."""

    def __init__(
        self,
        f: Callable[..., Any],
        static: Sequence[str | int],
        shapes: Mapping[str, Sequence[Any]],
        wait: bool,
        donate: Sequence[str | int],
        options: Options,
    ):
        if not callable(f) or not isinstance(shapes, Mapping):
            what = (
                f"shapes as a {type(shapes).__name__}"
                if callable(f)
                else f"a {type(f).__name__} in place of a function"
            )
            raise InputError(f"jit was given {what}", hint='Give a function, and shapes such as {"x": ("batch", 784)}')
        functools.update_wrapper(self, f)
        self.function, self.shapes, self.options = f, dict(shapes), options
        self.wait, self.where, self.is_method = wait, defined_at(f), False
        self.again: Repeat = never
        self.signature = inspect.signature(f)
        self.static = frozenset(parameter_named(f, self.signature, "static", each) for each in static)
        kinds = [each.kind for each in self.signature.parameters.values()]
        self.spread = kinds[-1:] == [inspect.Parameter.VAR_POSITIONAL]  # the last parameter is *xs
        by_position = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
        self.positional = not static and {*kinds[: len(kinds) - self.spread]} <= by_position
        self.programs: dict[Key, Traced] = {}
        self.names: dict[Key, list[str]] = {}
        self.reasons: list[str] = []
        self.donate = frozenset(parameter_named(f, self.signature, "donate", each) for each in donate)
        unknown = (self.static | self.donate | set(self.shapes)) - set(self.signature.parameters)
        if unknown:
            raise InputError(f"jit: {name_of(f)} has no parameter {', '.join(sorted(unknown))}")

    def __set_name__(self, owner: type, name: str) -> None:
        self.is_method = True

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """As a method of ``instance``."""
        return self if instance is None else methods.Bound(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs and (found := self.again(args)) is not None:
            return found
        if args and (self.is_method or isinstance(args[0], type)):  # a type: of a class method
            args = (methods.owner(args[0]), *args[1:])
        key, leaves = self._key(args, kwargs)
        if any(isinstance(x, Array) and ((x.value is None and x.traced) or x.is_varied()) for x in leaves):
            return self.function(*methods.plain(args), **kwargs)  # part of the trace, or derivative, around it
        traced = self.programs.get(key)
        if traced is None:
            traced = self._trace(key)
        with located(self.where):
            if traced.aliases:
                return self._donated(traced, key, leaves)
            try:
                result = traced([elements(x) for x in leaves])
            except GuardError as error:
                return self._of_none(key, leaves, error)
        if self.positional and not kwargs and traced.is_compiled:
            self.again = repeated(traced, key[1], self.spread)
        return result

    def _of_none(self, key: Key, leaves: Sequence[Any], error: GuardError) -> Any:
        """What a program of these very shapes gives where an array has no elements, and the open one refuses it: the
        dimensions that slices such as ``x[1:]`` have there, n-1, are at least 0 for n of at least 1.

        Raises:
            GuardError: the given one, where all have elements, or the function takes none.
        """
        types = tuple((element, np.shape(elements(x))) for (element, _), x in zip(key[2], leaves, strict=True))
        fixed = (*key[:2], types)
        if fixed == key or not any(0 in shape for _, shape in types):
            raise error
        try:
            traced = self.programs.get(fixed) or self._trace(fixed)
            return traced([elements(x) for x in leaves])
        except Exception:  # such as x[0], or what the user's own code makes of a size of 0
            raise error from None

    def _donated(self, traced: Traced, key: Key, leaves: Sequence[Any]) -> Any:
        """The results of a call. Those with an alias use the memory of the donated arguments."""
        to = f"{name_of(self.function)} at {where_called()}"
        donated = {argument for _, argument in traced.aliases}
        check_distinct([x for n, x in enumerate(leaves) if n in donated], list(leaves))
        names = self._names(key)

        def value(n: int, x: Any) -> np.ndarray[Any, Any]:
            if n not in donated:
                return elements(x)
            return given_away(x, names[n], to) if isinstance(x, Array) else elements(x).copy()

        return traced.update([value(n, x) for n, x in enumerate(leaves)])

    def lower(self, *args: Any, **kwargs: Any) -> Traced:
        """The trace for arguments, or for ``TensorSpec``s in their place; not compiled yet."""
        key, _ = self._key(args, kwargs)
        return self.programs.get(key) or self._trace(key)

    def ir(self, stage: str, *args: Any, **kwargs: Any) -> str:
        """The text of the module after a stage, for arguments or ``TensorSpec``s."""
        return self.lower(*args, **kwargs).ir(stage)

    def save(self, path: str | Path, *args: Any, **kwargs: Any) -> None:
        """Compile for arguments or ``TensorSpec``s and write ``path`` with its C header and weights."""
        self.lower(*args, **kwargs).save(path)

    def _key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Key, list[Any]]:
        static, dynamic = self._bound(args, kwargs)
        leaves, tree = trees.flatten(dynamic)
        names = self.names.get((static, tree))
        if names is None:
            names = self.names[static, tree] = self._names((static, tree))
        types = tuple(self._type(name, x) for name, x in zip(names, leaves, strict=True))
        return (static, tree, types), leaves

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Key, tuple[Any, ...]]:
        """The static arguments by name, those left out too, and the others in the order of the parameters."""
        if self.positional and not kwargs and not self.spread and len(args) == len(self.signature.parameters):
            return (), args
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ArgumentError(f"{self.where}: {name_of(self.function)}{self.signature}: {error}") from None
        given = bound.arguments.items()
        values = {name: each.default for name, each in self.signature.parameters.items()} | bound.arguments
        static = tuple((name, _hashable(name, x)) for name, x in values.items() if name in self.static)
        left_out = values.keys() - bound.arguments.keys() - self.static
        omitted = tuple((name, DEFAULT) for name in values if name in left_out)
        return (*static, *omitted), tuple(x for name, x in given if name not in self.static)

    def _names(self, key: Key) -> list[str]:
        """A name for each array: ``params.layers.0`` where parameter ``params`` is a tree."""
        static = dict(key[0])
        names = [name for name in self.signature.parameters if name not in static]
        paths = trees.paths(key[1])
        return [".".join([names[path[0]], *map(str, path[1:])]) for path in paths]

    def _type(self, name: str, x: Any) -> Type:
        element, shape = (x.element, x.shape) if isinstance(x, Array) else _type_of(name, x)
        wanted = self.shapes.get(name.partition(".")[0]) if self.shapes else None
        return (element, shape) if wanted is None else (element, opened(name, shape, wanted))

    def _trace(self, key: Key) -> Traced:
        static, tree, types = key
        self.reasons.append(self._reason(key))
        inputs = {name: new_argument(e, shape, True) for name, (e, shape) in zip(self._names(key), types, strict=True)}
        dynamic = iter(trees.unflatten(tree, [Array(each) for each in inputs.values()]))
        fixed = dict(static)
        bound = self.signature.bind_partial()
        for name in self.signature.parameters:
            if (value := fixed[name] if name in fixed else next(dynamic)) is not DEFAULT:
                bound.arguments[name] = value
        with located(self.where, traced=True):
            result = with_tables(self.function)(*bound.args, **bound.kwargs)
        outputs, out = trees.flatten(result)
        records = [_result(self.function, x).operand() for x in outputs]
        self._warn_of_captured(records)
        aliases = self._aliases(key, list(inputs.values()), out, records)
        wait = self.wait or bool(aliases)  # the interpreter's results may differ in the last bit
        traced = self.programs[key] = Traced(name_of(self.function), inputs, records, out, self.options, wait, aliases)
        return traced

    def _aliases(self, key: Key, inputs: Sequence[Record], out: trees.Tree, results: Sequence[Record]) -> Aliases:
        """Which results take over the memory of which donated arguments; warns of arguments that none can take over."""
        if not self.donate:
            return ()
        names = self._names(key)
        donated = [n for n, name in enumerate(names) if name.partition(".")[0] in self.donate]
        arguments = list(zip(trees.paths(key[1]), inputs, strict=True))
        found = matched(donated, arguments, list(zip(trees.paths(out), results, strict=True)))
        if unused := [names[n] for n in donated if n not in {argument for _, argument in found}]:
            what = f"no result has the type of the donated {', '.join(unused)}: the call does not overwrite it"
            warnings.warn(f"{self.where}: jit: {what}", stacklevel=5)
        return found

    def _warn_of_captured(self, outputs: Sequence[Record]) -> None:
        size = sum(each.data.nbytes for each in ordered(outputs) if each.data is not None)
        if size >= LARGE:
            what = f"{name_of(self.function)} captures arrays of {size >> 20} MiB: constants of each of its programs"
            warnings.warn(f"{self.where}: jit: {what}. Make them arguments", stacklevel=4)

    def _reason(self, key: Key) -> str:
        """The reason why this call is traced: its differences from the most similar program."""
        name = name_of(self.function)
        if not self.programs:
            return f"{name}: the first call"
        static, tree, types = min(self.programs, key=lambda other: _difference(key, other))
        if key[1] != tree:
            return f"{name}: the structure of the arguments is {key[1]}, it was {tree}"
        if key[0] != static:
            return f"{name}: static arguments are {dict(key[0])}, they were {dict(static)}"
        pairs = zip(self._names(key), key[2], types, strict=True)
        changes = [f"{argument} is {dtypes.text(*a)}, it was {dtypes.text(*b)}" for argument, a, b in pairs if a != b]
        return f"{name}: {'; '.join(changes)}"


@keywords_checked(make_options)
def jit(
    f: Callable[..., Any] | None = None,
    *,
    static: Parameters = (),
    shapes: Mapping[str, Sequence[Any]] | None = None,
    wait: bool = False,
    donate: Parameters = (),
    state: str | Sequence[str] = (),
    mesh: Mesh | None = None,
    shardings: Any = None,
    results: Any = None,
    static_argnums: Parameters = (),
    static_argnames: Parameters = (),
    donate_argnums: Parameters = (),
    donate_argnames: Parameters = (),
    **options: Any,
) -> Any:
    """Compile a function on arrays (and trees of them) when it is called; a decorator.

    It is traced once for each structure, shapes and types of its arguments: arrays of mlc, NumPy and packages with
    DLPack, numbers, and trees of them. ``static`` names or numbers parameters whose values are part of the program, as
    are those that a call leaves out.
    ``shapes`` opens dimensions: ``{"x": ("batch", 784)}`` makes one program for every batch.
    Of a method, ``self`` is an argument: the arrays among its attributes, or its leaves where it is a tree.
    The first calls of a program with fixed shapes that takes the interpreter at most 0.3 s run there, until it is
    compiled in the background; others, and all with ``wait``, wait for the compiler.
    ``donate`` names or numbers parameters that a call may overwrite: a result of equal type takes over the memory of
    each array in them, which has no elements afterwards. All calls then wait for the compiler.
    ``state`` names the first parameters, whose new values ``f`` returns first: they live in the compiled program, and
    ``f.create(*state)`` is a function of the others (``Stateful``).
    ``mesh`` makes one program for all its ranks (``mlc.comm.distributed.Distributed``): ``shardings`` says for
    parameters how their arrays are divided, ``{"w": P(None, "model")}``, and ``results`` how results stay divided; they
    are whole otherwise. ``shardings="auto"`` searches a plan (``mlc.planning``); with ``results="auto"`` a result that
    replaces an argument, as new parameters do, stays divided as that is.
    ``static_argnums`` and ``static_argnames``, ``donate_argnums`` and ``donate_argnames`` are JAX's names of ``static``
    and ``donate``. ``options`` are those of ``mlc.compile``. A jitted function within another is part of its program.

    Raises:
        InputError: no such parameter or option; when called: arguments that are no arrays, or what has no translation;
            an array that is donated while another, or NumPy's, has its memory, or used after it was donated.
        TraceError: it asks for elements of an array, as in ``if x > 0``; names the line.
    """
    static = (*several(static), *several(static_argnums), *several(static_argnames))
    donate = (*several(donate), *several(donate_argnums), *several(donate_argnames))
    if f is None:
        given = {"mesh": mesh, "shardings": shardings, "results": results}
        return functools.partial(jit, static=static, shapes=shapes, wait=wait, donate=donate, state=state, **given,
                                 **options)  # fmt: skip
    if mesh is not None:
        others = static or donate or state
        return _distributed(f, mesh, shardings or {}, results, make_options(**options), shapes or {}, others)
    if shardings or results is not None:
        raise InputError("jit: shardings were given without a mesh", hint="Give mesh=mlc.Mesh(data=2)")
    jitted = Jitted(f, static, shapes or {}, wait, donate, make_options(**options))
    return Stateful(jitted, [state] if isinstance(state, str) else state) if state else jitted


def _distributed(
    f: Callable[..., Any], mesh: Mesh, shardings: Any, results: Any, options: Options, shapes: Any, others: Any
) -> Any:
    from mlc.comm.distributed import Distributed

    if others:
        raise InputError("jit: a mesh does not go with static, donate or state", hint="Leave them out")
    return Distributed(f, mesh, shardings, results, options, shapes)


def explain(f: Jitted) -> str:
    """Why a jitted function was traced, a line for each program."""
    return "\n".join(f.reasons) or f"{name_of(f.function)}: not called yet"


def elements(x: Any) -> np.ndarray[Any, Any]:
    """An argument as NumPy's array."""
    if isinstance(x, Array):
        return x.numpy()
    return _foreign(x) if dtypes.is_array_like(x) else np.asarray(x, _dtype(x))


def _foreign(x: Any) -> np.ndarray[Any, Any]:
    """Another package's array as NumPy's, a view where it has DLPack."""
    return x if isinstance(x, np.ndarray) else as_numpy("x", x)


def _hashable(name: str, value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        what = f"jit: static argument '{name}' is a {type(value).__name__}, which has no hash"
        raise InputError(what, hint="Give a tuple, a string or a frozen dataclass") from None
    return value


def _difference(key: Key, other: Key) -> tuple[bool, bool, int]:
    return key[1] != other[1], key[0] != other[0], sum(a != b for a, b in zip(key[2], other[2], strict=False))


def _dtype(x: Any) -> np.dtype[Any]:
    return numpy_dtype(dtypes.element_of_scalar(x))


def _type_of(name: str, x: Any) -> Type:
    if isinstance(x, np.ndarray):
        return dtypes.element(x.dtype), x.shape
    if isinstance(x, TensorSpec):
        return dtypes.element(x.dtype), tuple(d if isinstance(d, int) else parse_open_dim(d) for d in x.shape)
    if isinstance(x, bool | int | float | np.generic):
        return dtypes.element_of_scalar(x), ()
    if dtypes.is_array_like(x):
        array = as_numpy(name, x)
        return dtypes.element(array.dtype), array.shape
    raise InputError(
        f"jit: argument '{name}' is a {type(x).__name__}", hint=f'Name it in static="{name}" or give an array'
    )


def opened(name: str, shape: Shape, wanted: Sequence[Any]) -> Shape:
    """The shape with the dimensions open that ``wanted`` names; None keeps one."""
    made: list[DimLike] = []
    if not isinstance(wanted, Sequence) or len(shape) != len(wanted):
        raise InputError(
            f"jit: argument '{name}' has shape {shape}, and shapes says {wanted}",
            hint="Give shapes of that rank and those extents",
        )
    for extent, each in zip(shape, wanted, strict=True):
        dim = extent if each is None else parse_open_dim(each) if isinstance(each, str) else each
        if not isinstance(dim, Dim) and dim != extent:
            raise InputError(
                f"jit: argument '{name}' has shape {shape}, and shapes says {tuple(wanted)}",
                hint="Give shapes of that rank and those extents",
            )
        made.append(dim)
    return tuple(made)


def _result(f: Callable[..., Any], x: Any) -> Array:
    try:
        return as_array(x)
    except InputError as error:
        raise InputError(f"jit: {name_of(f)} returns a {type(x).__name__}", hint="Return arrays and numbers") from error


__all__ = ["Jitted", "Traced", "explain", "jit"]
