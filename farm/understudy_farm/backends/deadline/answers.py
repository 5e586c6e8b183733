"""What the Web Service's answers mean, and its silence: one line for each fault, however it was reached."""

from __future__ import annotations

import json
from typing import Literal, NoReturn

from understudy_farm.backend import FarmAway, FarmError
from understudy_farm.backends.deadline.address import PASSWORD, Address
from understudy_farm.shell import SECONDS_TO_ANSWER

Verb = Literal["GET", "POST", "PUT", "DELETE"]
NOT_AUTHORIZED = "Error: HTTP Status Code 401"
"""DeadlineConnect's words for it."""


class Unanswered(FarmAway):
    """A question was sent, and nobody knows whether it was obeyed."""


def value_of(address: Address, text: str) -> object:
    """What JSON it is, or the words; some of them mean no. Raises FarmError for these, Unanswered for broken JSON."""
    try:
        value: object = json.loads(text)
    except ValueError:
        value = text.strip()
        if text.lstrip().startswith(("{", "[")):
            raise Unanswered(f"{_name(address)} answers broken JSON; restart it") from None
    if isinstance(value, str) and value.startswith(NOT_AUTHORIZED):
        raise_refused(address, "", 401, value)
    if isinstance(value, str) and value.startswith("Error"):
        raise FarmError(f"{_name(address)} says: {_short(value)}")
    return value


def raise_refused(address: Address, question: str, status: int, said: str) -> NoReturn:
    """It answered, and the answer is no."""
    if status in (401, 403):
        who = f"user {address.user}" if address.user else "a request without a user"
        raise FarmError(
            f"{_name(address)} refuses {who} ({status}); give -O user=NAME and set {PASSWORD}, or write both into "
            "~/.netrc"
        )
    raise FarmError(f"{_name(address)} refuses {question} ({status}): {_short(said) or 'without a reason'}")


def raise_untrusted(address: Address, why: str) -> NoReturn:
    raise FarmError(f"{_name(address)} has a certificate that is not trusted ({why}); give -O ca=FILE")


def raise_unreached(address: Address, why: str) -> NoReturn:
    """Nothing was sent."""
    through = f" through {address.proxy}" if address.proxy else ""
    raise FarmAway(f"{_name(address)} cannot be reached{through} ({why}); start it, or correct -O url")


def raise_late(address: Address) -> NoReturn:
    raise Unanswered(f"{_name(address)} did not answer within {SECONDS_TO_ANSWER:.0f} s; restart it")


def raise_dropped(address: Address, why: str) -> NoReturn:
    raise Unanswered(f"{_name(address)} dropped the connection ({why}); restart it")


def _name(address: Address) -> str:
    return f"{address.url}: Deadline's Web Service"


def _short(said: str) -> str:
    return " ".join(said.split())[:300]
