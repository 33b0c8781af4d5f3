import pytest
from benchmarks.large.plan import PARTITIONS_EACH, Constants, check_plan, simulate

CONSTANTS = Constants.measured(2_000_000, one_thread=0.16, two_threads=0.1, empty=0.016, n_tasks=8)


def test_constants_tell_the_work_of_a_number_from_the_memory_that_threads_share():
    assert CONSTANTS.seconds_per_number == pytest.approx(0.16 / 2e8)
    assert CONSTANTS.sharing == pytest.approx(1.25)
    assert simulate(CONSTANTS, 2_000_000, 100, 1).compute == pytest.approx(0.16)
    assert simulate(CONSTANTS, 2_000_000, 100, 2).compute == pytest.approx(0.1)


def test_every_thread_adds_its_tasks():
    few, many = simulate(CONSTANTS, 10**6, 100, 2), simulate(CONSTANTS, 10**6, 100, 64)
    assert many.n_tasks == 64 * PARTITIONS_EACH
    assert many.overhead == pytest.approx(32 * few.overhead)
    assert many.compute == pytest.approx(few.compute / 32)


@pytest.mark.parametrize(("factor", "met"), [(1.0, True), (1.2, True), (2.0, False), (0.5, False)])
def test_a_plan_is_held_to_what_was_measured(factor, met):
    seconds = simulate(CONSTANTS, 2_000_000, 100, 2).seconds
    ((_, verdict),) = check_plan(CONSTANTS, 2_000_000, {2: factor * seconds})
    assert verdict == met
