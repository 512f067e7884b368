"""Trained runs asked for log p(x)."""

from pathlib import Path

from wakesleep.core.algorithms import State
from wakesleep.running import run as runs
from wakesleep.running import train as training
from wakesleep.running.train import Job


def load_run(path: Path) -> tuple[Job, State]:
    """Returns a run's job and its last state."""
    run = runs.open_run(path)
    job = training.prepare(run.config)
    return job, runs.restore(run, job.shape(), change=False) if runs.steps_saved(run) else job.start()
