"""The same seed gives the same run, bit for bit, in another process, in several threads, and however environments are timed."""

import json

import arrival


def test_processes_with_two_threads_agree_whatever_the_order_in_which_environments_answer(warm, tmp_path):
    for order in (1, 3):
        warm.play(arrival.__file__, tmp_path, tmp_path / f"{order}.json", order)
    one, other = (json.loads((tmp_path / f"{order}.json").read_text()) for order in (1, 3))
    assert one == other
    assert one["threads"] == 2
