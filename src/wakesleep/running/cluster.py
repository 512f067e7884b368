"""How several processes join into one run, and how the rest end when one of them has died. JAX connects them."""

import os
import re
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import jax

from wakesleep.core.processes import primary, several
from wakesleep.errors import Refusal, require_at_least

LARGEST_PORT = 65535
LAST_WORD_SECONDS = 1.0
"""How long the primary process waits before it leaves, so that the others can print their last sentence."""
# What JAX says, in errors of several types, when a process cannot be reached.
BROKEN = re.compile(
    "gloo|nccl|peer|barrier|coordination|heartbeat|UNAVAILABLE|DEADLINE_EXCEEDED|ABORTED", re.IGNORECASE
)


class Place(NamedTuple):
    """Where a run is computed: the number of devices of this process, and its place among several processes."""

    devices: int = 1
    coordinator: str | None = None
    """HOST:PORT of process 0, or `auto` to take all from SLURM or Open MPI; None for one process."""
    processes: int | None = None
    process_id: int | None = None
    patience: int = 60
    """Seconds after which a process that cannot be reached, or is silent, counts as dead."""

    @property
    def several(self) -> bool:
        """Whether this is one of several processes."""
        return self.coordinator is not None


class Lost(Refusal):
    """Another process has ended: this one must leave without waiting for it."""


def check(place: Place) -> None:
    """Refuses a place that is incomplete or contradicts itself."""
    require_at_least("devices", place.devices, 1)
    require_at_least("patience", place.patience, 1)
    named = place.processes is not None or place.process_id is not None
    if place.coordinator in (None, "auto"):
        if named:
            raise Refusal("--processes and --process-id need --coordinator HOST:PORT, the address of process 0.")
        return
    if place.processes is None or place.process_id is None:
        raise Refusal("--coordinator HOST:PORT needs --processes and --process-id (only `auto` finds them itself).")
    require_at_least("processes", place.processes, 1)
    if not 0 <= place.process_id < place.processes:
        raise Refusal(
            f"process_id must lie between 0 and {place.processes - 1} for {place.processes} processes, but "
            f"{place.process_id} was given."
        )
    host, _, port = str(place.coordinator).rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) <= LARGEST_PORT:
        raise Refusal(f"--coordinator takes HOST:PORT, but {place.coordinator!r} was given.")


def join(place: Place) -> None:
    """Connects this process with the others of its place, and offers its devices.

    It must come before anything is computed.
    """
    check(place)
    if place.devices > 1:
        _offer_devices(place.devices)
    if place.several:
        _initialise(place)
    if place.devices > jax.local_device_count():
        raise Refusal(f"{place.devices} devices were asked for, but there are {jax.local_device_count()}.")


def _offer_devices(count: int) -> None:
    """Makes a CPU offer `count` devices; other hardware has what it has."""
    try:
        jax.config.update("jax_num_cpu_devices", count)
    except RuntimeError:
        return  # something was computed already: what there is will have to do


def _initialise(place: Place) -> None:
    given = {} if place.coordinator == "auto" else place._asdict()
    if given:
        reach = _wait_for if place.process_id else _check_free
        reach(str(place.coordinator), place.patience)
    try:
        jax.distributed.initialize(
            given.get("coordinator"),
            given.get("processes"),
            given.get("process_id"),
            coordinator_bind_address=given.get("coordinator") if place.process_id == 0 else None,
            initialization_timeout=place.patience,
            heartbeat_timeout_seconds=place.patience,
            shutdown_timeout_seconds=place.patience,
        )
    except ValueError as error:
        if given:
            raise Refusal(f"The processes cannot be joined: {_first_line(error)}") from None
        raise Refusal(
            "Neither SLURM nor Open MPI started this process: give --coordinator, --processes and --process-id."
        ) from None
    except RuntimeError as error:
        where = place.coordinator if given else "the address that the cluster gave"
        raise Refusal(
            f"Not all processes met at {where} within {place.patience} s ({_first_line(error)}): start them all, each "
            "with its own --process-id, and check the address."
        ) from None


def _wait_for(address: str, seconds: int) -> None:
    """Waits until a process listens at an address; without it, JAX would end this one without a sentence."""
    host, _, port = address.rpartition(":")
    last = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=seconds).close()
            return
        except OSError as error:
            if time.monotonic() > last or isinstance(error, socket.gaierror):
                raise Refusal(
                    f"Nobody answered at --coordinator {address} for {seconds} s ({error.strerror or error}): start "
                    "process 0 there, and check the address."
                ) from None
            time.sleep(0.1)


def _check_free(address: str, seconds: int) -> None:
    """Refuses an address that is not one of this host, or a port that is taken."""
    host, port = address.rpartition(":")[::2]
    try:
        found = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)[0]
        with socket.socket(found[0], found[1]) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(found[4])
    except OSError as error:
        raise Refusal(
            f"Process 0 cannot listen at {address} ({error.strerror or error}): give an address of its own host and a "
            "free port."
        ) from None


def devices(place: Place) -> list[jax.Device]:
    """Returns the devices of all processes in the order of the processes, `place.devices` of each."""
    found = []
    for process in range(jax.process_count()):
        own = [d for d in jax.devices() if d.process_index == process]
        if len(own) < place.devices:
            raise Refusal(f"Process {process} has {len(own)} devices, but {place.devices} were asked for.")
        found += own[: place.devices]
    return found


@contextmanager
def guard(again: str) -> Iterator[None]:
    """Turns the failure of another process into one sentence that says how to go on."""
    try:
        yield
    except Refusal:
        raise
    except (RuntimeError, ValueError, OSError) as error:
        if not is_broken(error):
            raise
        raise Lost(f"Another process of this run has ended ({_first_line(error)}); go on with: {again}") from None


def is_broken(error: BaseException) -> bool:
    """Whether an error says that another process cannot be reached."""
    return several() and BROKEN.search(str(error)) is not None


def leave(code: int) -> None:
    """Exits with a code; one of several processes ends at once, since it would wait long for the others."""
    if "jax" in sys.modules and jax.distributed.is_initialized():
        # The others lose the coordinator with the primary: they may finish their sentence first.
        time.sleep(LAST_WORD_SECONDS if primary() else 0.0)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n", maxsplit=1)[0][:200]
