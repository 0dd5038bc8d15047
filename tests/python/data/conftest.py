"""A server with a collection of little matrices, and an empty cache."""

import pytest
from heddle.data import Cache

from .site_of_matrices import Site, little_matrices, open_collection


@pytest.fixture(scope="session")
def served():
    site = Site()
    little_matrices(site)
    yield site
    site.close()


@pytest.fixture
def site(served):
    """The server, answering as it should until a test plans otherwise."""
    files, lines = dict(served.files), list(served.lines)
    served.plans.clear()
    served.requests.clear()
    yield served
    served.files, served.lines = files, lines


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


@pytest.fixture
def collection(site, cache):
    return open_collection(site.address, cache)
