"""From a study to its result folder: open, run on workers, finish."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from pathlib import Path

from rich.console import Console

from balance.studies.cluster import workers
from balance.studies.interface import Study
from balance.studies.progress import StudyProgress
from balance.studies.runner import Runner
from balance.studies.store import StudyFolder, remove_study


def run_study(
    study: Study,
    path: Path,
    *,
    scheduler: str | None = None,
    count: int | None = None,
    overwrite: bool = False,
    pdf: bool = False,
    console: Console | None = None,
) -> None:
    """Run what is not finished yet, on local workers or a cluster, and write the results.

    Whatever ends this early leaves the finished runs on disk; calling it again goes on.
    """
    if overwrite:
        remove_study(path)
    with StudyFolder(path, study.kind, study.definition) as folder:
        study.resume(folder)
        try:
            _run(study, folder, scheduler, count, console or Console(quiet=True))
            study.finish(folder, pdf)
        except KeyboardInterrupt:
            # The log is what counts: a figure that cannot be written, or is not waited for, is not.
            with suppress(OSError, KeyboardInterrupt):
                study.draw(path)
            raise folder.stopped("interrupted") from None
        except OSError as error:
            why = f"cannot write to {path}: {error.strerror or error}"
            raise folder.stopped(why) from None


def _run(
    study: Study,
    folder: StudyFolder,
    scheduler: str | None,
    count: int | None,
    console: Console,
) -> None:
    first = study.next_task()
    if first is None:
        return
    with ExitStack() as stack:
        progress = stack.enter_context(StudyProgress(console))
        client = stack.enter_context(workers(scheduler, count))
        Runner(study, folder, client, progress.update).run(first)
