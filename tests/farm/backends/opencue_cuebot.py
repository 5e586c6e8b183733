"""A Cuebot on this machine: Cuebot's gRPC services, which refuse what it refuses, and RQD's way of running frames."""

from __future__ import annotations

import re
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import grpc
from opencue_proto import comment_pb2, cue_pb2, cue_pb2_grpc, job_pb2, job_pb2_grpc, show_pb2, show_pb2_grpc
from tests.farm.backends.opencue_rqd import RunningFrame, start_frame

SHOW = "testing"
NAME = re.compile(r"[\w.-]{3,}", re.ASCII)
ORDER = {
    "spec": "facility dept show shot user email uid job depends",
    "job": "paused priority maxretries maxcores maxgpus autoeat localbook os env layers",
    "layer": "cmd range chunk cores threadable memory gpus gpu gpu_memory timeout timeout_llu tags limits env services "
    "outputs",
    "depend": "depjob deplayer depframe onjob onlayer onframe",
}
"""Elements in the order in which the DTD wants them."""


class Refused(Exception):
    """What Cuebot says about a spec."""


@dataclass
class Frame:
    """A frame of the farm."""

    layer: Layer
    number: int
    state: int = job_pb2.WAITING
    retries: int = 0
    exit_status: int = -1
    running: RunningFrame | None = None

    @property
    def name(self) -> str:
        return f"{self.number:04}-{self.layer.name}"


@dataclass
class Layer:
    name: str
    command: str
    environment: dict[str, str]
    gpus: str = ""
    after: list[str] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)


@dataclass
class CueJob:
    id: str
    name: str
    show: str
    shot: str
    user: str
    log_dir: Path
    max_retries: int
    is_paused: bool
    layers: dict[str, Layer]
    state: int = job_pb2.PENDING
    waits_for: list[CueJob] = field(default_factory=list)
    comments: list[comment_pb2.Comment] = field(default_factory=list)

    @property
    def frames(self) -> list[Frame]:
        return [frame for layer in self.layers.values() for frame in layer.frames]


class Cuebot(job_pb2_grpc.JobInterfaceServicer, show_pb2_grpc.ShowInterfaceServicer, cue_pb2_grpc.CueInterfaceServicer):  # type: ignore[misc]
    """Jobs in memory; a thread dispatches them to this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jobs: list[CueJob] = []
        self.calls: list[str] = []
        self.specs: list[str] = []
        self.trouble: Callable[[str], None] = lambda _: None
        """Called with the name of every call before it is answered: may sleep, or raise Refused."""
        self.drops: set[str] = set()
        """Calls that are done, but whose answer is lost."""
        self._lock = threading.RLock()
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._dispatch, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._is_closed.set()
        self._thread.join()
        for job in self.jobs:
            for frame in job.frames:
                if frame.running:
                    frame.running.kill()

    def job(self, name: str) -> CueJob:
        return next(job for job in reversed(self.jobs) if job.name.endswith(name))

    def kill_frame(self, name: str) -> None:
        """As a host that is taken away does: SIGKILL, and the frame counts as failed."""
        with self._lock:
            for job in self.jobs:
                for frame in job.frames:
                    if frame.name == name and frame.running:
                        frame.running.kill()

    # What Cuebot answers.

    def GetSystemStats(self, request, context):  # type: ignore[no-untyped-def]
        del request
        with self._answering("GetSystemStats", context):
            return cue_pb2.CueGetSystemStatsResponse()

    def FindShow(self, request, context):  # type: ignore[no-untyped-def]
        with self._answering("FindShow", context):
            if request.name != SHOW:
                context.abort(grpc.StatusCode.NOT_FOUND, "Incorrect result size: expected 1, actual 0")
            return show_pb2.ShowFindShowResponse(show=show_pb2.Show(name=SHOW))

    def GetActiveShows(self, request, context):  # type: ignore[no-untyped-def]
        del request
        with self._answering("GetActiveShows", context):
            shows = show_pb2.ShowSeq(shows=[show_pb2.Show(name=SHOW)])
            return show_pb2.ShowGetActiveShowsResponse(shows=shows)

    def IsJobPending(self, request, context):  # type: ignore[no-untyped-def]
        with self._answering("IsJobPending", context):
            return job_pb2.JobIsJobPendingResponse(value=self._pending(request.name) is not None)

    def LaunchSpecAndWait(self, request, context):  # type: ignore[no-untyped-def]
        with self._answering("LaunchSpecAndWait", context):
            self.specs.append(request.spec)
            job = self._job_of(request.spec)
            job.log_dir.mkdir(parents=True)
            self.jobs.append(job)
            return job_pb2.JobLaunchSpecAndWaitResponse(jobs=job_pb2.JobSeq(jobs=[_message(job)]))

    def GetJob(self, request, context):  # type: ignore[no-untyped-def]
        with self._answering("GetJob", context):
            return job_pb2.JobGetJobResponse(job=_message(self._known(request.id, context)))

    def FindJob(self, request, context):  # type: ignore[no-untyped-def]
        with self._answering("FindJob", context):
            job = self._pending(request.name)
            return job_pb2.JobFindJobResponse(job=_message(self._known(job.id if job else "", context)))

    def GetFrames(self, request, context):  # type: ignore[no-untyped-def]
        with self._answering("GetFrames", context):
            frames = self._asked(request, context)
            limit = min(request.req.limit, 1000)
            own = frames[(request.req.page - 1) * limit : request.req.page * limit]
            return job_pb2.JobGetFramesResponse(frames=job_pb2.FrameSeq(frames=map(_frame_message, own)))

    def RetryFrames(self, request, context):  # type: ignore[no-untyped-def]
        with self._answering("RetryFrames", context):
            for frame in self._asked(request, context):
                if frame.running:
                    frame.running.kill()
                    frame.running = None
                frame.state = job_pb2.WAITING
            return job_pb2.JobRetryFramesResponse()

    def Kill(self, request, context):  # type: ignore[no-untyped-def]
        with self._answering("Kill", context):
            job = self._known(request.job.id, context)
            if request.reason:  # without one Cuebot answers and does nothing
                job.state = job_pb2.FINISHED
                for frame in job.frames:
                    if frame.running:
                        frame.running.kill()
                        frame.running = None
                        frame.state = job_pb2.WAITING
            return job_pb2.JobKillResponse()

    def Resume(self, request, context):  # type: ignore[no-untyped-def]
        with self._answering("Resume", context):
            self._known(request.job.id, context).is_paused = False
            return job_pb2.JobResumeResponse()

    def SetMaxRetries(self, request, context):  # type: ignore[no-untyped-def]
        with self._answering("SetMaxRetries", context):
            self._known(request.job.id, context).max_retries = request.max_retries
            return job_pb2.JobSetMaxRetriesResponse()

    def AddComment(self, request, context):  # type: ignore[no-untyped-def]
        with self._answering("AddComment", context):
            self._known(request.job.id, context).comments.append(request.new_comment)
            return job_pb2.JobAddCommentResponse()

    def CreateDependencyOnJob(self, request, context):  # type: ignore[no-untyped-def]
        with self._answering("CreateDependencyOnJob", context):
            other = self._known(request.on_job.id, context)
            if other.state == job_pb2.FINISHED:
                raise Refused("The job you are depending on is already complete.")
            self._known(request.job.id, context).waits_for.append(other)
            return job_pb2.JobCreateDependencyOnJobResponse()

    @contextmanager
    def _answering(self, call: str, context: grpc.ServicerContext) -> Iterator[None]:
        self.calls.append(call)
        try:
            self.trouble(call)
            with self._lock:
                yield
        except (Refused, ElementTree.ParseError) as error:
            context.abort(grpc.StatusCode.INTERNAL, f"Failed to launch and add job: {error}")
        if call in self.drops:
            context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded")

    def _known(self, job_id: str, context: grpc.ServicerContext) -> CueJob:
        found = next((job for job in self.jobs if job.id == job_id), None)
        if found is None:
            context.abort(grpc.StatusCode.NOT_FOUND, "Job not found")
            raise AssertionError
        return found

    def _pending(self, name: str) -> CueJob | None:
        return next((job for job in self.jobs if job.name == name and job.state == job_pb2.PENDING), None)

    def _asked(self, request, context) -> list[Frame]:  # type: ignore[no-untyped-def]
        frames = self._known(request.job.id, context).frames
        numbers = _numbers(request.req.frame_range) if request.req.frame_range else range(10**6)
        layers = list(request.req.layers)
        return [frame for frame in frames if frame.layer.name in layers and frame.number in numbers]

    def _job_of(self, text: str) -> CueJob:
        """Raises Refused for what Cuebot refuses."""
        spec = ElementTree.fromstring(re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>", "", text))
        for element in spec.iter():
            _check_order(element)
        show, shot, user = (_text(spec, name) for name in ("show", "shot", "user"))
        if show != SHOW:
            raise Refused(f"The {show} does not exist.")
        if user == "root" or spec.findtext("uid") == "0":
            raise Refused("Cannot launch jobs as root.")
        [job] = spec.findall("job")
        suffix = job.get("name", "").lower()
        if not NAME.fullmatch(suffix) or not NAME.fullmatch(shot):
            raise Refused(f"The job name suffix: {suffix} must be composed of alpha numeric characters")
        name = f"{show}-{shot.lower()}-{user}_{suffix}".lower()
        if self._pending(name):
            raise Refused(f"The job {name} is already pending")
        job_id = str(uuid.uuid4())
        layers = {layer.get("name", ""): _layer_of(layer) for layer in job.iter("layer")}
        for depend in spec.iter("depend"):
            layers[_text(depend, "deplayer")].after.append(_text(depend, "onlayer"))
        return CueJob(
            id=job_id,
            name=name,
            show=show,
            shot=shot,
            user=user,
            log_dir=self.folder / f"{name}--{job_id}",
            max_retries=min(int(_text(job, "maxretries")), 1),
            is_paused=_text(job, "paused") == "True",
            layers=layers,
        )

    def _dispatch(self) -> None:
        while not self._is_closed.wait(0.05):
            with self._lock:
                for job in self.jobs:
                    for frame in job.frames:
                        self._look_at(job, frame)
                    done = (job_pb2.SUCCEEDED, job_pb2.EATEN)
                    if job.state == job_pb2.PENDING and all(frame.state in done for frame in job.frames):
                        job.state = job_pb2.FINISHED

    def _look_at(self, job: CueJob, frame: Frame) -> None:
        if frame.running is not None:
            code = frame.running.ended()
            if code is not None:
                frame.running = None
                frame.exit_status = code
                frame.state = _state_after(job, frame)
        elif frame.state == job_pb2.WAITING and job.state == job_pb2.PENDING and not job.is_paused:
            others = [other for name in frame.layer.after for other in job.layers[name].frames]
            if all(other.state == job_pb2.SUCCEEDED for other in others) and all(
                other.state == job_pb2.FINISHED for other in job.waits_for
            ):
                frame.running = _start(job, frame)
                frame.state = job_pb2.RUNNING


def _state_after(job: CueJob, frame: Frame) -> int:
    if frame.exit_status == 0:
        return int(job_pb2.SUCCEEDED)
    if frame.retries >= job.max_retries:
        return int(job_pb2.DEAD)
    frame.retries += 1
    return int(job_pb2.WAITING)


def _start(job: CueJob, frame: Frame) -> RunningFrame:
    tokens = {"#ZFRAME#": f"{frame.number:04}", "#IFRAME#": str(frame.number), "#FRAME#": frame.name}
    command = frame.layer.command
    for token, value in {**tokens, "#LAYER#": frame.layer.name, "#JOB#": job.name}.items():
        command = command.replace(token, value)
    told = {
        "CUE3": "1",
        "CUE_IFRAME": str(frame.number),
        "CUE_FRAME": frame.name,
        "CUE_LAYER": frame.layer.name,
        "CUE_JOB": job.name,
        "CUE_JOB_ID": job.id,
        "CUE_SHOW": job.show,
        "CUE_SHOT": job.shot,
        "CUE_USER": job.user,
        "CUE_CHUNK": "1",
        "CUE_THREADS": "1",
        "CUE_LOG_PATH": str(job.log_dir),
    }
    if frame.layer.gpus:
        told["CUE_GPU_CORES"] = frame.layer.gpus
    return start_frame(command, {**frame.layer.environment, **told}, job.log_dir / f"{job.name}.{frame.name}.rqlog")


def _layer_of(element: ElementTree.Element) -> Layer:
    name = element.get("name", "")
    tags = [tag.strip() for tag in (element.findtext("tags") or "").split("|")]
    if not NAME.fullmatch(name) or not all(NAME.fullmatch(tag) for tag in tags if tag):
        raise Refused(f"The layer name: {name} or a tag of it is not in the proper format.")
    int(element.findtext("timeout") or 0)
    keys = {str(key.get("name")): (key.text or "").strip() for key in element.iter("key")}
    layer = Layer(name=name, command=_text(element, "cmd"), environment=keys)
    layer.gpus = ",".join(str(number + 4) for number in range(int(element.findtext("gpus") or 0)))
    layer.frames = [Frame(layer=layer, number=number) for number in _numbers(_text(element, "range"))]
    return layer


def _check_order(element: ElementTree.Element) -> None:
    if element.tag in ORDER:
        order = ORDER[element.tag].split()
        places = [order.index(child.tag) if child.tag in order else -1 for child in element]
        if places != sorted(places) or -1 in places:
            raise Refused(f"Failed to parse job spec XML: the content of {element.tag} does not match its type")


def _text(element: ElementTree.Element, name: str) -> str:
    text = element.findtext(name)
    if text is None or not text.strip():
        raise Refused(f"Failed to parse job spec XML: no {name}")
    return text.strip()


def _numbers(text: str) -> list[int]:
    numbers: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def _message(job: CueJob) -> job_pb2.Job:
    return job_pb2.Job(
        id=job.id,
        name=job.name,
        state=job.state,
        show=job.show,
        shot=job.shot,
        user=job.user,
        log_dir=str(job.log_dir),
        is_paused=job.is_paused,
    )


def _frame_message(frame: Frame) -> job_pb2.Frame:
    return job_pb2.Frame(
        id=f"{id(frame)}",
        name=frame.name,
        layer_name=frame.layer.name,
        number=frame.number,
        state=frame.state,
        retry_count=frame.retries,
        exit_status=frame.exit_status,
        last_resource=f"{socket.gethostname()}/1.00/0",
    )


@contextmanager
def running_cuebot(folder: Path) -> Iterator[tuple[Cuebot, str]]:
    """A Cuebot and its address."""
    cuebot = Cuebot(folder)
    server = grpc.server(futures.ThreadPoolExecutor(8))
    job_pb2_grpc.add_JobInterfaceServicer_to_server(cuebot, server)
    show_pb2_grpc.add_ShowInterfaceServicer_to_server(cuebot, server)
    cue_pb2_grpc.add_CueInterfaceServicer_to_server(cuebot, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield cuebot, f"127.0.0.1:{port}"
    finally:
        server.stop(0).wait()
        cuebot.close()
