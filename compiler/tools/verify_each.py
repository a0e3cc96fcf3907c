"""Verify the IR after each pass by the rules of its level; a failure names the pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlc.driver.instrument import Instrument
from mlc.errors import InternalError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from mlc.dialects.weights import WeightStore
    from mlc.passes.levels import Rules


class VerifyEach(Instrument):
    """Runs the verifiers of operations, then the rules of ``mlc.passes.levels``, which are valid between passes too."""

    def __init__(self) -> None:
        self._rules: Rules | None = None

    def after(self, name: str, module: ModuleOp | None, weights: WeightStore | None) -> None:
        if module is None:
            return
        from xdsl.utils.exceptions import VerifyException

        from mlc.passes.levels import rules_from

        self._rules = rules_from(name) or self._rules
        try:
            module.verify()
            if self._rules is not None:
                self._rules(module)
        except VerifyException as error:
            raise InternalError(f"The pass {name} made invalid IR: {error}", stage=name.split(".")[0]) from error
