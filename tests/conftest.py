"""Hypothesis profiles, whole tables of cases with --thorough, and the count of the checks that ran against torch. In CI
no test may be skipped."""

import os
from collections import Counter
from importlib import import_module

import pytest
from hypothesis import HealthCheck, settings

from npbert import (
    BertForMaskedLM,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
)
from npbert.compute.blas import blas_threads
from tests.computing import BLAS_THREADS

IN_CI = os.environ.get("CI") == "true"
HEADS = {
    "fill-mask": BertForMaskedLM,
    "embed": BertModel,
    "classify": BertForSequenceClassification,
    "tag": BertForTokenClassification,
    "answer": BertForQuestionAnswering,
}


@pytest.fixture
def count_of_blas():
    """A function that says how many threads BLAS has; outside the package it has BLAS_THREADS of them."""
    get, set_ = blas_threads()
    before = get()
    set_(BLAS_THREADS)
    yield get
    set_(before)


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory):
    """A folder with a small model for each command that reads texts. Nobody writes there."""
    from tests.inference.checkpoints import write_checkpoint  # skips where an extra is not installed

    return {name: write_checkpoint(tmp_path_factory.mktemp(name), head) for name, head in HEADS.items()}


@pytest.fixture
def no_edits(monkeypatch):
    """A check looks for no edit, which takes most of its time: whether it is wrong is asked, not how."""
    monkeypatch.setattr(import_module("npbert.gradcheck.explain.findings"), "mended", lambda *_: [])


def pytest_addoption(parser):
    parser.addoption("--thorough", action="store_true", help="try all cases of each table, not one of each kind")


def pytest_configure(config):
    settings.register_profile(
        "npbert",
        max_examples=40 if config.getoption("--thorough") else 5,
        derandomize=IN_CI,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        print_blob=True,
    )
    settings.load_profile("npbert")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--thorough"):
        left_out = [item for item in items if item.get_closest_marker("thorough")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]


@pytest.fixture(scope="session")
def thorough(pytestconfig):
    """True if all cases are wanted, of a test that goes through a table by itself."""
    return bool(pytestconfig.getoption("--thorough"))


def pytest_runtest_setup(item):
    if item.get_closest_marker("torch"):
        pytest.importorskip("torch", reason="torch is not installed: pip install torch==2.13.0")


def pytest_terminal_summary(terminalreporter):
    passed = [report for report in terminalreporter.stats.get("passed", []) if report.when == "call"]
    against_torch = sum("torch" in report.keywords for report in passed)
    terminalreporter.write_line(f"{against_torch} checks ran against torch")
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", [])
    )
    if reasons:
        terminalreporter.write_line(f"{reasons.total()} tests were skipped, as they need something more:")
        for reason, count in reasons.most_common():
            terminalreporter.write_line(f"  {count:>5}  {reason}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")  # None in the processes of pytest-xdist
    if IN_CI and reporter and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter.write_line("\nFAILED: a test was skipped, and in CI none may be", red=True)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A process has neighbours to do, which share what is made once a file; with none left, it takes another's."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None
