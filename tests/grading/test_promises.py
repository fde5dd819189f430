"""Every line of the promises on the page for instructors names the tests that hold it."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from grading import handins, reading
from tests.grading import (
    test_border,
    test_bounds,
    test_class,
    test_course,
    test_engine,
    test_gradebook,
    test_handins,
    test_run,
    test_sandbox,
    test_settings,
)

PAGE = Path(__file__).parents[2] / "book" / "for_instructors.md"
PROMISES = {
    ("a student", "code in the notebook"): [
        test_class.test_nothing_secret_came_out,
        test_sandbox.test_a_wall,
        test_sandbox.test_a_terminal_is_out_of_reach,
        test_sandbox.test_the_grader_and_the_solutions_are_absent,
    ],
    ("a student", "code that never ends, or uses up everything there is"): [
        test_class.test_each_is_graded_as_it_should_be,
        test_class.test_nothing_is_left,
        test_sandbox.test_all_that_can_be_written_is_bounded,
        test_sandbox.test_when_its_grader_is_killed_nothing_of_it_is_left,
        test_run.test_the_time_of_a_submission_ends_and_what_was_read_is_kept,
        test_run.test_what_a_function_leaves_behind_is_ended_with_it,
        test_bounds.test_to_run_a_notebook_takes_little_memory,
        test_bounds.test_too_much_output_is_said,
        test_bounds.test_whoever_does_not_listen_uses_up_the_time,
        test_bounds.test_a_byte_out_of_band_stops_nobody,
        test_bounds.test_memory_is_counted_wherever_it_is,
        test_bounds.test_a_page_shows_so_much_and_no_more,
        test_bounds.test_a_check_that_would_work_for_ever_is_stopped,
        test_bounds.test_lines_that_only_ipython_reads_cost_no_work,
        test_bounds.test_no_text_of_repeated_signs_takes_longer_than_its_length,
        test_gradebook.test_a_page_that_takes_too_long_is_made_plainly,
        test_engine.test_one_that_is_killed_stops_no_other,
    ],
    ("a student", "the hidden inputs, which reach their own functions"): [
        test_class.test_nothing_secret_came_out,
        test_run.test_what_a_hidden_input_does_is_not_told,
        test_sandbox.test_a_wall,
    ],
    ("a student", "what is printed or shown, and the names of errors"): [
        test_class.test_no_page_runs_a_script_of_theirs,
        test_class.test_terminal_and_tables_are_text,
        test_course.test_only_text_and_pictures_reach_a_graders_browser,
        test_bounds.test_a_picture_that_no_browser_can_unpack_is_left_out,
    ],
    ("a student", "patched comparisons, edited grade cells, forged messages"): [
        test_class.test_each_is_graded_as_it_should_be,
        test_class.test_the_gradebook_says_the_same,
        test_border.test_what_is_forged_is_refused,
        test_border.test_a_line_that_is_no_message_is_refused,
    ],
    ("a student", "a link, a folder, a pipe or a broken file instead of a notebook"): [
        test_class.test_each_is_graded_as_it_should_be,
        test_handins.test_what_is_no_file_is_not_opened,
        test_bounds.test_to_read_a_file_takes_little_memory,
        test_handins.test_no_folder_above_may_be_a_link,
        test_course.test_a_time_that_is_none_is_not_brought,
    ],
    ("a student", "later cells that use the same names"): [
        test_run.test_no_later_cell_changes_an_answer,
        test_class.test_whoever_means_well_gets_no_flag,
    ],
    ("a student", "somebody else's notebook, or values"): [
        test_class.test_each_is_graded_as_it_should_be,
    ],
    ("other programs", "all processors"): [
        test_run.test_time_is_the_processors,
        test_class.test_each_is_graded_as_it_should_be,
    ],
    ("the grader itself", "a failure, such as a sandbox that does not start"): [
        test_gradebook.test_a_failure_of_ours_is_no_mark_and_is_tried_again,
        test_engine.test_one_that_takes_too_long_is_ended_and_gets_no_result,
        test_run.test_what_else_its_user_runs_takes_no_room_from_it,
    ],
    ("another user of the machine", "an account of their own"): [
        test_class.test_only_the_instructor_may_look,
    ],
    ("you", "<kbd>Ctrl</kbd>+<kbd>C</kbd>, a second `make grade`, a lost gradebook"): [
        test_engine.test_a_kill_in_the_middle_loses_nothing,
        test_gradebook.test_two_at_once_are_told,
        test_gradebook.test_a_broken_gradebook_is_said_and_made_again,
        test_gradebook.test_a_gradebook_in_use_is_not_called_broken,
        test_gradebook.test_points_by_hand_reach_table_and_page,
    ],
    ("you", "a slip in `course.toml` or in `roster.csv`, or a submission in the wrong place"): [
        test_settings.test_a_slip_in_the_settings_is_told_by_its_line,
        test_settings.test_an_exercise_that_is_not_there_is_told_with_what_was_meant,
        test_settings.test_a_slip_in_the_roster_is_told_by_its_line,
        test_handins.test_a_hand_in_that_lies_astray_is_said_and_left,
        test_course.test_handouts_are_never_deleted,
    ],
}


def lines() -> list[tuple[str, str]]:
    """Who with what, of each line of the page's table."""
    table = PAGE.read_text(encoding="utf-8").partition("| who | with what | can | can't |\n")[2]
    rows = [line.split("|") for line in table.partition("\n\n")[0].split("\n")[1:]]
    return [(row[1].strip(), row[2].strip()) for row in rows]


def test_what_is_taken_is_said():
    page = PAGE.read_text(encoding="utf-8")
    assert (
        f"at most {handins.LARGEST // 2**20} MB, with at most {reading.MOST_CELLS:,} cells" in page
    )


def test_every_line_has_its_tests_and_no_test_is_without_a_line():
    assert lines() == list(PROMISES)


@pytest.mark.parametrize("line", PROMISES, ids=" · ".join)
def test_a_line_names_tests(line):
    for test in PROMISES[line]:
        assert inspect.isfunction(test)
        assert test.__name__.startswith("test_")
