"""Faults that no last unit sees: where all of them give nothing, none is told what it misses. There, they are woken.

The last units do not leak (network.py), so that what is off gives nothing, and learns nothing either. That keeps a
plate untouched where there is nothing to paint; but a blemish at which every unit is off stays as it is for the whole
run, however often it is looked at. Letting all gradients through drives units that are off ever further, as nothing
that they give answers; and switching on for every small error turns calm places restless. So now and then a unit that
is off hears a part of the gradient where that would switch it on, and of what is loud in it alone.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx, once_differentiable

from understudy.train.network import Understudy

LOUD = 2.0
"""Times the root mean square of a crop's gradients: of what is beyond, units that are off hear."""
HEARD_SHARE = 0.4
"""Of that: they are told again and again, for their answer does not change until they are on."""
STEPS_APART = 4
"""That they are: each time takes a hundredth of a step. A tenth at every step was as good in the end."""


def wake_last_units(model: Understudy) -> WakingReLU:
    """From now on, in place. Only what is learnt becomes another: answers are made as before, and weights saved so."""
    last = model.unet.up[-1]
    assert isinstance(last, nn.Sequential)
    conv, relu = last[-1].children()
    assert isinstance(relu, nn.ReLU)
    waking = WakingReLU()
    last[-1] = nn.Sequential(conv, waking)
    return waking


class WakingReLU(nn.Module):
    """max(x, 0) of N C H W, in place."""

    def __init__(self) -> None:
        super().__init__()
        self.is_loud_heard = True

    def begin_step(self, step: int) -> None:
        """Before its forward pass. Which steps are heard follows from their number: a resumed run has the same."""
        self.is_loud_heard = step % STEPS_APART == 0

    def forward(self, given: Tensor) -> Tensor:
        if not self.is_loud_heard:
            return torch.relu_(given)
        answer: Tensor = _WakingReLU.apply(given)  # type: ignore[no-untyped-call]
        return answer


class _WakingReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, given: Tensor) -> Tensor:
        given.relu_()
        ctx.mark_dirty(given)
        ctx.save_for_backward(given)
        return given

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, slope: Tensor) -> Tensor:
        (given,) = ctx.saved_tensors  # type: ignore[attr-defined]
        usual = torch.linalg.vector_norm(slope, dim=(1, 2, 3), keepdim=True) / slope[0].numel() ** 0.5  # N 1 1 1
        # Each is one pass over the picture; with torch.where a step took a twentieth longer. Those that are off are
        # between -1 and the least number; of theirs only what is beyond LOUD is left, and of that, as a leak, a part.
        quiet = torch.maximum(slope, -LOUD * usual)  # N C H W
        quiet_off = torch.ops.aten.hardtanh_backward(quiet, given, -1, torch.finfo(given.dtype).tiny)
        answer: Tensor = torch.ops.aten.leaky_relu_backward(slope - quiet_off, given, HEARD_SHARE, False)
        return answer
