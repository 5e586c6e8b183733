"""The compositor's nodes, over the break of Blender 5.0: read for the plan, and added to for the result."""

from __future__ import annotations

from pathlib import Path

import bpy
from bpy.types import Context, Node, NodeSocket, NodeTree, Scene

from . import frames
from .plan import Result
from .problems import Problem
from .sources import ImageNode, Socket, Source, files_of

GROUP = "Understudy"
INPUTS = ("Input", "Ground Truth")
RESULT = "Understudy Result"
HEIGHT_OF_AN_IMAGE_NODE = 500.0
"""With its preview; Blender tells a node's height only once it is drawn."""


def tree_of(scene: Scene) -> NodeTree:
    """Raises Problem when the scene has no compositor in use."""
    has_groups = hasattr(scene, "compositing_node_group")  # from 5.0 on
    tree = scene.compositing_node_group if has_groups else scene.use_nodes and scene.node_tree
    if not tree or not tree.nodes:
        raise Problem(f"scene {scene.name}: has no nodes in the compositor; turn on Use Nodes and add the plate")
    return tree


def is_understudy(node: Node | None) -> bool:
    """A group node with CopyCat's two inputs."""
    return node is not None and node.bl_idname == "CompositorNodeGroup" and set(INPUTS) <= {*node.inputs.keys()}


def sources(scene: Scene) -> tuple[Source, Source]:
    """Plate and ground truth as the panel names them. Raises Problem for what is missing."""
    tree, chosen = tree_of(scene), scene.understudy
    truth = tree.nodes.get(chosen.truth_node)
    if is_understudy(truth):
        plate_socket, truth_socket = (_linked(truth, name) for name in INPUTS)
    else:
        plate_socket = _named(tree, "Plate", chosen.plate_node, chosen.plate_socket)
        truth_socket = _named(tree, "Ground Truth", chosen.truth_node, chosen.truth_socket)
    return source_of(plate_socket), source_of(truth_socket)


def described(scene: Scene) -> tuple[str, ...]:
    """Plate and ground truth in words, or what is missing."""
    try:
        plate, truth = sources(scene)
    except Problem as problem:
        return problem.lines
    return f"Input: {plate}", f"Ground Truth: {truth}"


def source_of(output: NodeSocket) -> Source:
    node = output.node
    index = next(index for index, socket in enumerate(node.outputs) if socket == output)
    socket = Socket(node.name, index, output.name, output.type == "VALUE")
    is_image = node.bl_idname == "CompositorNodeImage" and node.image
    return Source(socket, files_of(socket, _image_node(node)) if is_image else None)


def add_understudy(context: Context) -> Node:
    """A group node to which plate and ground truth are linked, as CopyCat's are."""
    scene = context.scene
    tree, chosen = tree_of(scene), scene.understudy
    linked = {
        name: _wanted(tree, getattr(chosen, f"{side}_node"), getattr(chosen, f"{side}_socket"))
        for name, side in zip(INPUTS, ("plate", "truth"))
    }
    node = tree.nodes.new("CompositorNodeGroup")
    node.node_tree = _group()
    node.name = node.label = GROUP
    node.location = _right_of([socket.node for socket in linked.values() if socket])
    for name, socket in linked.items():
        if socket:
            tree.links.new(socket, node.inputs[name])
    chosen.truth_node = node.name
    return node


def place(scene: Scene, result: Result) -> None:
    """Wire the result in: an Image node beside the plate, seen in the Viewer, and in the output if that is free."""
    tree = tree_of(scene)
    node = tree.nodes.get(RESULT) or tree.nodes.new("CompositorNodeImage")
    node.name = node.label = RESULT
    _show_sequence(node, result)
    source = tree.nodes.get(result.source)
    if source is not None:
        node.location = (source.location.x, source.location.y + HEIGHT_OF_AN_IMAGE_NODE)
    outputs = [socket for socket in node.outputs if socket.enabled]
    shown = next((socket for socket in outputs if result.is_matte and socket.name == "Alpha"), outputs[0])
    viewer = next((each for each in tree.nodes if each.bl_idname == "CompositorNodeViewer"), None)
    if viewer is None:
        viewer = tree.nodes.new("CompositorNodeViewer")
        viewer.location = (node.location.x + 400, node.location.y)
    tree.links.new(shown, viewer.inputs[0])
    for output in tree.nodes:
        is_output = output.bl_idname in ("CompositorNodeComposite", "NodeGroupOutput")
        if is_output and output.inputs and not output.inputs[0].is_linked:
            tree.links.new(shown, output.inputs[0])


def _show_sequence(node: Node, result: Result) -> None:
    first = frames.path_of(result.pattern, result.frames[0] + result.shift)
    image = bpy.data.images.load(first, check_existing=True)
    image.source = "SEQUENCE"
    image.reload()
    node.image = image
    node.frame_start = result.frames[0]
    node.frame_duration = result.frames[-1] - result.frames[0] + 1
    node.frame_offset = result.shift + result.frames[0] - 1


def _image_node(node: Node) -> ImageNode:
    image = node.image
    return ImageNode(
        path=str(Path(bpy.path.abspath(image.filepath, library=image.library)).absolute()),
        is_sequence=image.source == "SEQUENCE",
        is_multilayer=node.has_layers or "Combined" in node.outputs,
        colorspace=image.colorspace_settings.name,
        frame_start=node.frame_start,
        frame_offset=node.frame_offset,
        frame_duration=node.frame_duration,
        view_layer=node.layer if node.has_layers else "",
        is_plain=not (node.mute or image.packed_file or image.is_dirty or node.use_cyclic or node.has_views),
    )


def _linked(node: Node, name: str) -> NodeSocket:
    """Where an input's link comes from, through any reroutes."""
    socket = node.inputs[name]
    while socket.is_linked:
        output = socket.links[0].from_socket
        if output.node.bl_idname != "NodeReroute":
            return output
        socket = output.node.inputs[0]
    raise Problem(f"{node.name}: its input {name} is not connected; link {_what(name)} to it")


def _what(name: str) -> str:
    return "the plate" if name == INPUTS[0] else "the painted frames"


def _named(tree: NodeTree, field: str, node_name: str, socket_name: str) -> NodeSocket:
    if not node_name:
        raise Problem(f"{field}: no node is chosen; choose one, or make an Understudy node and link to it")
    found = _wanted(tree, node_name, socket_name)
    if found is None:
        missing = f"output {socket_name}" if node_name in tree.nodes else "node of that name"
        raise Problem(f"{field}: {node_name} has no {missing} in the compositor; choose again")
    return found


def _wanted(tree: NodeTree, node_name: str, socket_name: str) -> NodeSocket | None:
    """The output of that name, or the node's first one."""
    node = tree.nodes.get(node_name)
    if node is None or is_understudy(node):
        return None
    outputs = [socket for socket in node.outputs if socket.enabled]
    return next((socket for socket in outputs if socket_name in ("", socket.name)), None)


def _group() -> NodeTree:
    tree = bpy.data.node_groups.get(GROUP)
    if tree is None:
        tree = bpy.data.node_groups.new(GROUP, "CompositorNodeTree")
        for name in INPUTS:
            if hasattr(tree, "interface"):  # from 4.0 on
                tree.interface.new_socket(name, in_out="INPUT", socket_type="NodeSocketColor")
            else:
                tree.inputs.new("NodeSocketColor", name)
    return tree


def _right_of(nodes: list[Node]) -> tuple[float, float]:
    if not nodes:
        return (0.0, 0.0)
    return max(node.location.x + node.width for node in nodes) + 60, max(node.location.y for node in nodes)
