"""What `make coverage` prints: by package, how many of its lines the tests have run."""

from __future__ import annotations

from testing.covered import table_of


def report_of(**files: tuple[int, int]) -> dict[str, object]:
    return {
        "files": {
            path.replace("_", "/") + ".py": {
                "summary": {"num_statements": lines, "covered_lines": covered}
            }
            for path, (lines, covered) in files.items()
        }
    }


def test_the_modules_of_a_package_count_together() -> None:
    report = report_of(
        labs_run_plan=(30, 30),
        labs_run_turns=(10, 0),
        labs_run_deep_below=(60, 45),
        grader_cli=(2, 1),
    )
    assert table_of(report).rows == (
        ("grader", "2", "50 %"),
        ("labs.run", "100", "75 %"),
        ("all", "102", "75 %"),
    )


def test_a_package_without_lines_has_no_row() -> None:
    assert table_of(report_of(labs_empty=(0, 0), labs_run_plan=(4, 1))).rows == (
        ("labs.run", "4", "25 %"),
        ("all", "4", "25 %"),
    )
