"""One rank's way into its run: where it listens or looks, who leads, and the line it holds until it leaves."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from understudy.errors import UnderstudyError
from understudy.files import make_folder
from understudy.ranks.addresses import listen_address_for, local_address_for
from understudy.ranks.desk import Desk, Patience
from understudy.ranks.member import Endpoint, Member
from understudy.ranks.notice import (
    Notice,
    desk_finder,
    is_answered,
    listen,
    new_secret,
    notice_path,
    publish,
    publish_failure,
    read_notice,
    secret_given,
    this_process,
    withdraw,
)
from understudy.ranks.place import RankPlace
from understudy.ranks.roster import Facts, Roster


@dataclass(frozen=True, kw_only=True)
class Invitation:
    """What a rank brings to the meeting, besides its place."""

    data_directory: Path
    given_name: str
    """Of the run, as all its ranks were told; empty: rank 0 chooses."""
    new_name: str
    """What rank 0 calls a new run."""
    may_go_on: Callable[[str], bool]
    """Whether the run of that name, which lost its rank 0, is the one that this command asks for."""
    has_begun: bool
    """The run is resumed: fewer ranks than all may begin."""
    facts: Facts
    """Settings and versions, in which all ranks must agree."""
    patience: Patience
    min_ranks: int
    environment: Mapping[str, str]


class Meeting:
    """Open until left. Rank 0 serves the desk beside being a member like the others."""

    def __init__(self, place: RankPlace, invitation: Invitation, tell: Callable[[str], None]) -> None:
        """Raises UnderstudyError when an address, port or secret is wrong, or rank 0 is running already."""
        self.place = place
        self.local_address = local_address_for(place)
        self._desk: Desk | None = None
        self.run_name = ""
        self.is_taking_over = False
        """A rank 0 before this one was lost in the middle of this run."""
        self._path = notice_path(invitation.data_directory, invitation.given_name)
        self._notice: Notice | None = None
        secret = secret_given(invitation.environment)
        find_desk = desk_finder(place, self._path, secret)
        if place.rank == 0:
            endpoint = self._open_desk(invitation, secret, tell)
            find_desk = lambda: endpoint  # noqa: E731
        self.member = Member(
            rank=place.rank,
            world_size=place.world_size,
            local_address=self.local_address,
            facts=invitation.facts,
            find_desk=find_desk,
            patience=invitation.patience,
            tell=tell,
        )

    @property
    def leads(self) -> bool:
        return self.place.rank == 0

    def join(self) -> None:
        """Wait to be let in. Raises RanksMissing, or UnderstudyError when this rank is turned away."""
        self.run_name = self.member.join()

    def end(self, code: int, reason: str) -> None:
        """Of rank 0: the run is over for all its ranks, and nobody is to go on with it. Of others: nothing."""
        if self._desk:
            self._desk.end(code, reason)
        if self._notice:
            withdraw(self._path, self._notice)

    def leave(self, reason: str) -> None:
        """Sign off. If rank 0 does so without an end, the others hold until it is started again."""
        self.member.leave(reason)
        if self._desk:
            self._desk.close()

    def _open_desk(self, invitation: Invitation, secret: str, tell: Callable[[str], None]) -> Endpoint:
        make_folder(self._path.parent)
        earlier = read_notice(self._path)
        if earlier and is_answered(earlier):
            raise UnderstudyError(
                f"rank 0 of {earlier.run_name} is running already ({earlier.written_by}, {earlier.address} port "
                f"{earlier.port}); give this run another --run-name or --data-directory"
            )
        lost = earlier if earlier and not earlier.gave_up and invitation.may_go_on(earlier.run_name) else None
        self.is_taking_over = lost is not None
        run_name = lost.run_name if lost else invitation.new_name
        secret = secret or (lost.secret if lost else new_secret())
        try:
            listener = listen(listen_address_for(self.place), self.place.main_port)
        except UnderstudyError as error:
            if not lost:
                publish_failure(self._path, run_name=run_name, reason=str(error))
            raise
        notice = self._notice = publish(self._path, run_name=run_name, secret=secret, listener=listener)
        roster = Roster(
            world_size=self.place.world_size,
            min_ranks=invitation.min_ranks,
            facts=invitation.facts,
            has_begun=invitation.has_begun,
            grace_seconds=2 * invitation.patience.silence_seconds,
            now=time.monotonic(),
        )
        self._desk = Desk(
            listener,
            run_name=run_name,
            secret=secret.encode(),
            roster=roster,
            patience=invitation.patience,
            successor=lambda: _successor(self._path, notice),
            tell=tell,
        )
        return Endpoint(
            address=notice.address, port=notice.port, secret=secret.encode(), told_by=this_process(), is_fixed=True
        )


def _successor(path: Path, own: Notice) -> str:
    """Who has taken the run over from this rank 0, thought dead; empty as a rule."""
    now = read_notice(path)
    return "" if now is None or now == own or now.gave_up else now.written_by
