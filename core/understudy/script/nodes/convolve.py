"""Convolve2, and the older Convolve: filters whose weights are a picture.

It is turned about, as convolution has it, so that a point of light takes its shape. What its middle is, and what
becomes of channels that it lacks, follows the Convolve example of Nuke's developer kit.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from understudy.frames.image import FloatPixels
from understudy.frames.window import Window
from understudy.script.channels import ChannelSet
from understudy.script.graph import Node
from understudy.script.knobs import Knob, bool_knob, channels_knob, enum_knob, knob_error
from understudy.script.nodes.base import Request, Tree, node_error
from understudy.script.nodes.filters import Around, FilterNode, Reach
from understudy.script.nodes.pixels import PixelNode
from understudy.script.nodes.sums import Weights, as_shares, summed_under
from understudy.script.values.moment import Moment

FILTER_CHANNEL = channels_knob("filter_channel", "alpha")
USE_INPUT_CHANNELS = bool_knob("use_input_channels", False)
FILTER_BOUNDS = enum_knob("filter_bounds", ("shape", "format"), "shape")
CHANNEL = channels_knob("channel", "none")
NORMALIZE = bool_knob("normalize", True)

MAX_FILTER_SIDE = 2049
"""Pixels."""


class _Convolving(FilterNode):
    """The picture of input 1, the filter, is laid upon every pixel of input 0."""

    page = "filter_nodes/convolve.html"
    num_inputs = 2

    @abstractmethod
    def common_channel(self, node: Node, moment: Moment) -> Knob[ChannelSet] | None:
        """The knob that names one channel of the filter for all; None: each channel has its own."""

    def fills_format(self, node: Node, moment: Moment) -> bool:
        """Whether the filter's format, not its data window, is laid upon pixels."""
        del node, moment
        return False

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        tree.input(node, 1)
        return super().upstream(tree, node)

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        """How far it reaches depends on its filter, of which nothing is known yet."""
        PixelNode.check(self, tree, node, moment)

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        there, moment = super().channels(tree, node), tree.moment(None)
        knob, named = self.common_channel(node, moment), tree.channels(tree.input(node, 1))
        if knob and len(knob.of(node, moment).of(named)) != 1:
            raise knob_error(node, knob.name, f"does not name one of the filter's channels ({', '.join(named)})")
        return there

    def reach(self, tree: Tree, node: Node, moment: Moment) -> Reach:
        window = self._window(tree, node, moment)
        width, height = window.width, window.height
        return Reach(left=(width - 1) // 2, up=height // 2, right=width // 2, down=(height - 1) // 2)

    def filtered(self, tree: Tree, node: Node, request: Request, around: Around) -> FloatPixels:
        whole = around.whole()
        out = np.zeros((request.region.height, request.region.width, len(request.channels)), np.float32)  # H W C
        for channel, places in self._places(tree, node, request.channels).items():
            weights = self._weights(tree, node, request.frame, channel)
            out[..., places] = summed_under(whole[..., places], weights)
        return out

    def _window(self, tree: Tree, node: Node, moment: Moment) -> Window:
        assert moment.frame is not None
        info = tree.info(tree.input(node, 1), int(moment.frame))
        window = info.display_window if self.fills_format(node, moment) else info.data_window
        if window.is_empty:
            raise node_error(node, f"its filter has no pixel at frame {moment.frame}; connect another")
        if max(window.width, window.height) > MAX_FILTER_SIDE:
            raise node_error(node, f"its filter is {window}, over {MAX_FILTER_SIDE} pixels wide or high; crop it")
        return window

    def _places(self, tree: Tree, node: Node, channels: tuple[str, ...]) -> dict[str, list[int]]:
        """Which of these channels each of the filter's is for; those that it has none for are left black."""
        moment, named = tree.moment(None), tree.channels(tree.input(node, 1))
        knob = self.common_channel(node, moment)
        if knob:
            return {knob.of(node, moment).of(named)[0]: list(range(len(channels)))}
        return {channel: [place] for place, channel in enumerate(channels) if channel in named}

    def _weights(self, tree: Tree, node: Node, frame: int, channel: str) -> Weights:
        window = self._window(tree, node, tree.moment(frame))
        picture = tree.pixels(tree.input(node, 1), Request(frame=frame, channels=(channel,), region=window))
        weights = picture[::-1, ::-1, 0].astype(np.float64)
        if not np.isfinite(weights).all():
            raise node_error(node, f"its filter holds no finite number everywhere at frame {frame}; clamp it")
        if not NORMALIZE.of(node, tree.moment(None)):
            return weights
        if not weights.sum():
            raise knob_error(
                node, NORMALIZE.name, f"divides by its filter's sum, which is 0 at frame {frame}; clear it"
            )
        return as_shares(weights)


class Convolve2(_Convolving):
    names = ("Convolve2",)
    still = (*FilterNode.still, FILTER_CHANNEL, USE_INPUT_CHANNELS, FILTER_BOUNDS, NORMALIZE)

    def common_channel(self, node: Node, moment: Moment) -> Knob[ChannelSet] | None:
        return None if USE_INPUT_CHANNELS.of(node, moment) else FILTER_CHANNEL

    def fills_format(self, node: Node, moment: Moment) -> bool:
        return FILTER_BOUNDS.of(node, moment) == "format"


class Convolve(_Convolving):
    names = ("Convolve",)
    still = (*FilterNode.still, CHANNEL, NORMALIZE)

    def common_channel(self, node: Node, moment: Moment) -> Knob[ChannelSet] | None:
        return CHANNEL if CHANNEL.of(node, moment) != ChannelSet() else None
