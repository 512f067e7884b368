import json
import subprocess
import sys
from importlib import import_module

import pytest
from rich.console import Console

from wakesleep.cli import app as cli
from wakesleep.cli import output as screen
from wakesleep.paper.names import EXPERIMENTS

TINY = ["--set", "observations=8", "--set", "points=3", "--set", "width=4", "--batch-size", "4"]


@pytest.fixture
def wakesleep(monkeypatch, capsys):
    """Runs a command in this process: exit code, standard output, standard error."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["wakesleep", *map(str, words)])
        monkeypatch.setattr(screen, "out", Console(width=200))
        monkeypatch.setattr(screen, "err", Console(stderr=True, width=400))
        code = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture(scope="module")
def run_path(tmp_path_factory):
    """A short training run made by the command."""
    path = tmp_path_factory.mktemp("cli") / "run"
    command = "from wakesleep.cli.app import main; main()"
    words = ["train", "clusters", "--steps", "50", "--output", str(path), *TINY, "--json"]
    done = subprocess.run([sys.executable, "-c", command, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["step"] == 50
    return path


def test_help_answers_without_importing_jax():
    code = (
        "import sys; sys.argv = ['wakesleep', '--help']\nfrom wakesleep.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit:\n    assert not {'jax', 'numpy'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "reproduce" in done.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["train", "clusters", "--memory-size", "0"], "memory_size must be at least 1, but 0 was given."),
        (["train", "clusters", "--algorithm", "vimco", "--particles", "1"], "particles must be at least 2"),
        (["train", "clusters", "--algorithm", "em"], "algorithm must be one of mws, mws-paper"),
        (["train", "clusters", "--batch-size", "101"], "between 1 and the 100 observations, but 101"),
        (["train", "clusters", "--learning-rate", "0"], "learning_rate must be positive"),
        (["train", "clusters", "--set", "size=3"], "no setting 'size'; its settings are"),
        (["train", "clusters", "--set", "size"], "--set takes NAME=VALUE, but 'size' was given."),
        (
            ["train", "shapes"],
            "domain must be one of clusters, characters, strings, timeseries, automata, or package.module:NAME",
        ),
        (["train", "clusters", "--rows-at-once", "-1"], "rows_at_once must be at least 0"),
        (["train", "clusters", "--devices", "0"], "devices must be at least 1, but 0 was given."),
        (["train", "clusters", "--processes", "2"], "--processes and --process-id need --coordinator"),
        (["resume", "nowhere"], "nowhere is not a run directory"),
        (["explain", "nowhere", "x.csv"], "neither a domain"),
        (["reproduce", "everything"], "experiment must be one of clusters, sparsity"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_sentence_before_any_work(
    wakesleep, tmp_path, monkeypatch, words, sentence
):
    monkeypatch.chdir(tmp_path)
    code, out, err = wakesleep(*words)
    assert code == 2
    assert sentence in err
    assert err.count("\n") == 1
    assert out == ""
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_option_exits_with_two(wakesleep):
    assert wakesleep("train", "clusters", "--colour", "red")[0] == 2


def test_a_run_directory_is_not_overwritten(wakesleep, run_path):
    code, _, err = wakesleep("train", "clusters", "--output", run_path, *TINY)
    assert code == 2
    assert "exists already" in err


def test_a_run_can_be_evaluated_exactly_and_by_importance(wakesleep, run_path):
    code, out, _ = wakesleep("evaluate", run_path, "--exact", "--samples", "200", "--json")
    assert code == 0
    found = {(r["split"], r["method"]): r["log_p"] for r in json.loads(out)}
    assert found["train", "importance"] < found["train", "exact"] + 0.2
    assert ("test", "exact") in found


def test_the_posterior_of_a_training_observation_is_shown(wakesleep, run_path, tmp_path):
    picture = tmp_path / "posterior.png"
    code, out, _ = wakesleep("posterior", run_path, "--row", "3", "--json", "--picture", picture)
    assert code == 0
    (found,) = json.loads(out)
    assert found["name"] == "group 3"
    assert abs(sum(p["probability"] for p in found["programs"]) - 1) < 1e-4
    assert picture.stat().st_size > 1000
    assert wakesleep("posterior", run_path, "--row", "8")[0] == 2


def test_samples_are_programs_with_observations(wakesleep, run_path):
    code, out, _ = wakesleep("sample", run_path, "-n", "3", "--json")
    assert code == 0
    assert [len(r["observation"]) for r in json.loads(out)] == [3, 3, 3]


def test_new_observations_are_explained_by_a_run_or_from_scratch(wakesleep, run_path, tmp_path):
    file = tmp_path / "points.csv"
    file.write_text("group,x,y\n" + "".join(f"{g},{i * j},{i}\n" for g in "ab" for i, j in ((1, 2), (2, 1), (9, 3))))
    code, out, err = wakesleep("explain", run_path, file, "--json")
    assert code == 0, err
    assert [f["name"] for f in json.loads(out)] == ["a", "b"]
    code, out, err = wakesleep("explain", "clusters", file, "--steps", "20", "--json")
    assert code == 0, err
    assert all(f["programs"] for f in json.loads(out))


def test_resuming_to_a_later_step_goes_on(wakesleep, run_path):
    code, out, err = wakesleep("resume", run_path, "--steps", "60", "--json")
    assert code == 0, err
    assert json.loads(out)["step"] == 60


def test_domains_and_their_settings_are_listed(wakesleep):
    assert "clusters" in wakesleep("domains")[1]
    assert "variance" in wakesleep("domains", "clusters")[1]


@pytest.fixture
def table(tmp_path):
    """A table with a column of codes and one of numbers."""
    path = tmp_path / "table.csv"
    path.write_text("code,n\n" + "".join(f"HF{i},{i}\n" for i in range(12)))
    return path


def test_a_table_is_explained_exported_and_checked(wakesleep, table, tmp_path):
    code, out, err = wakesleep("explain", "strings", table, "--column", "code", "--effort", "quick", "--json")
    assert code == 0, err
    found = {row["column"]: row for row in json.loads(out)}
    assert {"regex", "probability", "description", "coverage", "samples"} <= set(found["code"]["patterns"][0])
    patterns = tmp_path / "patterns.json"
    patterns.write_text(out)
    assert wakesleep("check", patterns, table)[0] == 0
    table.write_text("code\nHF3\n2014-01-02\n")
    code, out, _ = wakesleep("check", patterns, table, "--json")
    assert code == 1
    assert [v["value"] for v in json.loads(out)[0]["faults"]] == ["2014-01-02"]


def test_every_row_is_checked_and_not_a_sample(wakesleep, table, tmp_path):
    _, out, _ = wakesleep("explain", "strings", table, "--effort", "quick", "--column", "code", "--json")
    patterns = tmp_path / "patterns.json"
    patterns.write_text(out)
    broken = [f"2014-01-{i:02d}x" for i in range(50)]
    table.write_text("code\n" + "HF3\n" * 100_000 + "\n".join(broken) + "\n")
    code, out, _ = wakesleep("check", patterns, table, "--json")
    assert code == 1
    assert sorted(v["value"] for v in json.loads(out)[0]["faults"]) == broken


def test_patterns_are_shown_in_a_table_and_exported(wakesleep, table):
    code, out, err = wakesleep("explain", "strings", table, "--effort", "quick", "--column", "code")
    assert code == 0, err
    assert "HF" in out
    code, out, _ = wakesleep("explain", "strings", table, "--effort", "quick", "--export", "json-schema")
    assert "pattern" in json.loads(out)["properties"]["code"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["explain", "strings", "none.csv"], "is not a file"),
        (["explain", "strings", "."], "is a folder"),
        (["explain", "strings", "none.csv", "--effort", "much"], "effort must be one of quick, usual, thorough"),
        (["explain", "strings", "none.csv", "--picture", "x.png"], "No such option: --picture"),
        (["explain", "automata", "none.png", "--csv", "x.csv"], "No such option: --csv"),
        (["explain", "automata", "none.png", "--film", "x.gif"], "No such option: --film"),
        (["explain", "timeseries", "none.csv", "--film", "x.gif"], "No such option: --film"),
        (["explain", "clusters", "none.csv", "--effort", "nonsense"], "No such option: --effort"),
        (["explain", "characters", "none.png", "--set", "reach=3"], "No such option: --set"),
        (["explain", "strings", "none.csv", "--export", "yaml"], "export must be one of json-schema"),
        (["explain", "none.csv"], "neither a domain"),
        (["explain", "none.csv", "--as"], "--as needs the name of a domain"),
        (["check", "none.json", "none.csv"], "cannot be read"),
        (["check", "pyproject.toml", "none.csv"], "is neither a contract nor a saved explanation"),
        (["draft", "none.csv"], "is not a file"),
        (["export", "none.yaml", "pandera"], "cannot be read as a contract"),
        (["compare", "none.csv", "none.csv"], "is not a file"),
        (["train", "strings", "--set", "concepts=many"], "concepts must be one of appendix"),
        (["train", "strings", "--set", "length=1"], "length must be at least 2"),
        (["reproduce", "strings", "--algorithm", "EM"], "algorithm must be one of MWS"),
    ],
)
def test_bad_requests_about_strings_get_one_sentence(wakesleep, words, sentence):
    code, _, err = wakesleep(*words)
    assert code == 2
    assert sentence in err
    assert "Traceback" not in err


def test_bad_requests_about_series_get_one_sentence(wakesleep, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("t,y\n" + "".join(f"{t},{t % 5}\n" for t in range(20)))
    for words, sentence in (
        (["--column", "z"], "has no column 'z'; it has t, y"),
        (["--effort", "much"], "No such option: --effort"),
        (["--transform", "sqrt"], "transform must be one of auto, none, log"),
        (["--ahead", "0"], "ahead must lie between 0 and 10"),
        (["--set", "hidden=3"], "No such option: --set"),
    ):
        code, _, said = wakesleep("explain", "timeseries", path, *words)
        assert code == 2
        assert sentence in said


@pytest.mark.parametrize("module", sorted(set(EXPERIMENTS.values())))
def test_every_experiment_has_a_command_a_small_version_and_a_table(module):
    made = import_module(f"wakesleep.paper.{module}")
    named = {name for name, where in EXPERIMENTS.items() if where == module}
    assert named == set(made.EXPERIMENTS) == set(made.FULL) == set(made.QUICK)
    assert named <= set(import_module(f"wakesleep.paper.figures.{module}").TABLES)
