"""What nodes that change pixels have in common: which channels, where (a mask), how much (mix), and unpremultiplied.

A node's own part is done on the channels it is to change, divided by `unpremult` where that is asked for; the result
is multiplied by it again, and laid over the input as far as mask and mix let it: in + (out - in) * mix * mask.
Of a mask input that is connected, alpha counts where maskChannelMask is left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np

from understudy.frames.image import FloatPixels, part_of
from understudy.frames.window import Window
from understudy.script.channels import ChannelSet, component, places_of
from understudy.script.graph import Node
from understudy.script.knobs import Knob, bool_knob, channels_knob, float_knob, knob_error
from understudy.script.nodes.base import Info, NodeClass, Request, Tree, node_error
from understudy.script.values.moment import Moment

RGB = channels_knob("channels", "rgb")
ALL = channels_knob("channels", "all")
OWN_MASK = channels_knob("maskChannelInput", "none")
INPUT_MASK = channels_knob("maskChannelMask", "alpha")
INVERT_MASK = bool_knob("invert_mask", False)
UNPREMULT = channels_knob("unpremult", "none")
MIX = float_knob("mix", 1.0)

_FIXED = (
    bool_knob("inject", False),
    bool_knob("fringe", False),
    bool_knob("process_mask", False),
    bool_knob("invert_unpremult", False),
    float_knob("mix_luminance", 0.0),
    channels_knob("mask", "none"),  # what Nuke 5 called the channel of a mask
    channels_knob("maskChannel", "none"),
)


class Masked(NodeClass):
    """Has a mask and a mix: how much of what it does is let through, and where."""

    makes_pixels = True
    num_inputs = 1
    """Those before the mask."""
    takes_more = False
    """Whether further inputs may follow the mask."""
    knobs: tuple[Knob[object], ...] = (INVERT_MASK, MIX)
    still: tuple[Knob[object], ...] = (OWN_MASK, INPUT_MASK)
    fixed: tuple[Knob[object], ...] = _FIXED

    def upstream(self, tree: Tree, node: Node) -> tuple[Node, ...]:
        mask = self.mask_place(tree, node)
        connected = (tree.script.input_of(node, number) for number in range(1, self.num_inputs))
        return (tree.input(node, 0), *filter(None, connected), *([mask[0]] if mask else []))

    def check(self, tree: Tree, node: Node, moment: Moment) -> None:
        super().check(tree, node, moment)
        stated = node.knobs.get("inputs", "1").split("+")
        has_room = self.takes_more and len(stated) > 1
        is_many = len(node.inputs) > self.num_inputs + 1 or (self.num_inputs > 1 and int(stated[0]) > self.num_inputs)
        if is_many and not has_room:
            raise node_error(node, f"has {len(node.inputs)} inputs, more than are evaluated; disconnect the others")
        if moment.frame is not None:  # before, what is above has not been looked at, and has no channels
            self.mask_node(tree, node)

    def amount(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        """How much of the change is let through: one number, or H W 1."""
        moment = tree.moment(request.frame)
        amount = np.asarray(MIX.of(node, moment), np.float32)
        mask = self.mask_node(tree, node)
        if mask is None:
            return amount
        asked = replace(request, channels=mask[1])
        seen = tree.pixels(mask[0], asked) if mask[1] else np.zeros((1, 1, 1), np.float32)
        let_through: FloatPixels = amount * (1 - seen if INVERT_MASK.of(node, moment) else seen)
        return let_through

    def mask_node(self, tree: Tree, node: Node) -> tuple[Node, tuple[str, ...]] | None:
        """Where the mask comes from, and its channel; no channel: it has none of that name, and is black."""
        found = self.mask_place(tree, node)
        if found is None:
            return None
        place, knob = found
        chosen = knob.of(node, tree.moment(None)).of(tree.channels(place))
        if len(chosen) > 1:
            raise knob_error(node, knob.name, f"selects {len(chosen)} channels ({', '.join(chosen)}); choose one")
        return place, chosen

    def mask_place(self, tree: Tree, node: Node) -> tuple[Node, Knob[ChannelSet]] | None:
        """Where the mask comes from, and the knob that names its channel.

        A channel of the picture itself counts before the mask input, as Nuke's developer kit says of its wrapper.
        """
        moment, beside = tree.moment(None), tree.script.input_of(node, self.num_inputs)
        if OWN_MASK.of(node, moment) != ChannelSet():
            return tree.input(node, 0), OWN_MASK
        if beside is not None and INPUT_MASK.of(node, moment) != ChannelSet():
            return beside, INPUT_MASK
        return None


class PixelNode(Masked, ABC):
    """Changes channels of its input 0; `changed` says how."""

    channels_knob: Knob[ChannelSet] = RGB
    channels_default_is_known: bool = True
    """Where it is not, and a script leaves the knob out, only what its default names may come in: that is meant."""
    still: tuple[Knob[object], ...] = (RGB, OWN_MASK, INPUT_MASK, UNPREMULT)

    def chosen(self, node: Node, moment: Moment) -> ChannelSet:
        """What is to be changed."""
        return self.channels_knob.of(node, moment)

    @abstractmethod
    def changed(self, tree: Tree, node: Node, request: Request, pixels: FloatPixels) -> FloatPixels:
        """H W C, all channels of the request changed.

        `pixels`: H W C over what is `seen` for it, what they were, unpremultiplied if asked.
        """

    def seen(self, tree: Tree, node: Node, request: Request) -> Window:
        """The part of input 0 that the region is made of."""
        del tree, node
        return request.region

    def together(self, channels: tuple[str, ...], there: tuple[str, ...]) -> tuple[str, ...]:
        """The channels among `there` without which these cannot be computed, and these."""
        del there
        return channels

    def looked_at(self, tree: Tree, node: Node) -> tuple[str, ...]:
        """Channels of input 0 that the knobs name, so that they decide what becomes of others."""
        del tree, node
        return ()

    def channels(self, tree: Tree, node: Node) -> tuple[str, ...]:
        there = tree.channels(tree.input(node, 0))
        more = set(there) - set(self.channels_knob.default.of(there))
        if more and not self.channels_default_is_known and not self.channels_knob.is_stated(node):
            raise knob_error(
                node, self.channels_knob.name, f"is left out, and whether that means {min(more)}, too, is not known"
            )
        return there

    def pixels(self, tree: Tree, node: Node, request: Request) -> FloatPixels:
        chosen = self.chosen(node, tree.moment(None)).of(request.channels)
        if not chosen:
            return tree.pixels(tree.input(node, 0), request)
        divisor = self._divisor(tree, node)
        together = self.together(chosen, tree.channels(tree.input(node, 0)))
        needed = tuple(dict.fromkeys((*together, *self.looked_at(tree, node))))
        asked = tuple(dict.fromkeys((*request.channels, *needed, *divisor)))
        seen = self.seen(tree, node, request)
        above = tree.pixels(tree.input(node, 0), replace(request, channels=asked, region=seen))
        before = part_of(above, seen, request.region)
        colour, alpha = places_of(needed, asked), places_of(divisor, asked)  # alpha: one place, or none
        part = replace(request, channels=needed)
        with np.errstate(all="ignore"):  # pixels may hold infinities and not-a-numbers
            after = self.changed(tree, node, part, divided(above[..., colour], above[..., alpha]))
            after = after * before[..., alpha] if divisor else after
            after = laid_over(before[..., colour], after, self.amount(tree, node, request))
        if request.channels == chosen == needed:
            return after
        out: FloatPixels = before[..., : len(request.channels)].copy()
        for channel in chosen:  # one by one: numpy is slow to copy three of every four numbers
            out[..., request.channels.index(channel)] = after[..., needed.index(channel)]
        return out

    def _divisor(self, tree: Tree, node: Node) -> tuple[str, ...]:
        """The channel by which colour is premultiplied; none: nothing is."""
        found = UNPREMULT.of(node, tree.moment(None)).of(tree.channels(tree.input(node, 0)))
        if len(found) > 1:
            raise knob_error(node, UNPREMULT.name, f"selects {len(found)} channels ({', '.join(found)}); choose one")
        return found


def filled(info: Info) -> Info:
    """What is known of a picture whose black is no longer black: all of the format has pixels."""
    return replace(info, data_window=info.data_window.union(info.display_window), is_black_outside=False)


def divided(pixels: FloatPixels, by: FloatPixels) -> FloatPixels:
    """Pixels, H W C, by H W 1, unchanged where that is 0; H W 0: by nothing."""
    if not by.shape[2]:
        return pixels
    straight: FloatPixels = np.divide(pixels, np.where(by == 0, np.float32(1), by))
    return straight


def laid_over(before: FloatPixels, after: FloatPixels, amount: FloatPixels) -> FloatPixels:
    """What was, and what is new as far as the amount lets it through: one number, or H W 1.

    Where one of them is shown alone, an infinity or not-a-number of the other does not matter.
    """
    if amount.ndim == 0 and amount == 1:
        return after
    mixed: FloatPixels = before * (1 - amount)
    mixed += after * amount
    if np.isfinite(mixed).all():
        return mixed
    shown: FloatPixels = np.where(amount == 0, before, np.where(amount == 1, after, mixed))
    return shown


class Tone(ABC):
    """What happens to the values of one channel. Equal where it is the same."""

    @abstractmethod
    def of(self, values: FloatPixels) -> FloatPixels:
        """New values; any shape."""


class ToneNode(PixelNode):
    """Gives each value a new one that depends on it alone, by the numbers for red, green, blue and alpha.

    Where black does not stay black, all of the format is filled.
    """

    @abstractmethod
    def tone(self, node: Node, part: int, moment: Moment) -> Tone:
        """For red, green, blue and alpha: part 0 to 3."""

    def info(self, tree: Tree, node: Node, frame: int) -> Info:
        above = super().info(tree, node, frame)
        black = np.zeros(1, np.float32)
        with np.errstate(all="ignore"):
            lifts = any(tone.of(black)[0] != 0 for tone in self._tones(tree, node, frame, tree.channels(node)).values())
        return filled(above) if lifts else above

    def changed(self, tree: Tree, node: Node, request: Request, pixels: FloatPixels) -> FloatPixels:
        tones = self._tones(tree, node, request.frame, request.channels)
        first = tones[request.channels[0]]
        if pixels.flags.c_contiguous and all(tone == first for tone in tones.values()):
            return first.of(pixels)
        out = np.empty_like(pixels)
        for place, channel in enumerate(request.channels):
            out[..., place] = tones[channel].of(pixels[..., place])
        return out

    def _tones(self, tree: Tree, node: Node, frame: int, channels: tuple[str, ...]) -> dict[str, Tone]:
        """By the channels among these that are chosen."""
        chosen = self.chosen(node, tree.moment(None)).of(channels)
        tones = [self.tone(node, part, tree.moment(frame)) for part in range(4)]
        return {channel: self._tone_of(node, channel, tones) for channel in chosen}

    def _tone_of(self, node: Node, channel: str, tones: list[Tone]) -> Tone:
        part = component(channel)
        if part is None and any(tone != tones[0] for tone in tones):
            raise knob_error(
                node,
                self.channels_knob.name,
                f"selects {channel}, which is neither red, green, blue nor alpha, but the values of those differ",
            )
        return tones[part or 0]
