from browsers import browsers, need_browser, pytest_runtest_teardown  # noqa: F401


def pytest_runtest_setup(item):
    if item.get_closest_marker("browser"):
        need_browser()
