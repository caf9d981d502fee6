"""Threads that share parts out: in order, bounded, and gone when they should be."""

import threading
from contextlib import closing

import pytest

from venire.engine.local import map_partitions


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_answers_come_in_the_order_of_the_parts(workers, count):
    assert list(map_partitions(lambda part: part * part, range(count), workers=workers)) == [
        n * n for n in range(count)
    ]


def test_few_parts_are_held_at_a_time():
    drawn = []

    def parts():
        for number in range(100):
            drawn.append(number)
            yield number

    with closing(map_partitions(str, parts(), workers=2)) as answers:
        next(answers)
        assert len(drawn) < 8


def test_threads_end_when_the_answers_are_closed():
    before = threading.active_count()
    with closing(map_partitions(str, range(100), workers=3)) as answers:
        next(answers)
        assert threading.active_count() > before
    assert threading.active_count() == before


def test_what_a_part_raises_is_raised_and_the_threads_end():
    before = threading.active_count()
    with (
        pytest.raises(ZeroDivisionError),
        closing(map_partitions(lambda n: 1 // n, [1, 2, 0, 3, 4], workers=2)) as all_of,
    ):
        list(all_of)
    assert threading.active_count() == before


def test_what_is_under_way_is_stopped_when_the_answers_are_closed():
    stopped = threading.Event()

    def wait(number):
        if number:
            assert stopped.wait(60)
        return number

    with closing(map_partitions(wait, range(100), workers=3, stop=stopped.set)) as answers:
        assert next(answers) == 0
    assert stopped.is_set()


def test_nothing_is_stopped_where_all_answers_were_taken():
    stopped = threading.Event()
    assert list(map_partitions(str, range(3), workers=2, stop=stopped.set)) == ["0", "1", "2"]
    assert not stopped.is_set()
