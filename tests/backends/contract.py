"""What every backend promises; each backend's tests inherit it."""

import httpx
import pytest

from harness.backends.base import Backend
from harness.errors import EndpointError


class BackendContract:
    """Give it a fixture `backend`: one that can be started and was not yet."""

    def test_the_endpoint_answers_as_soon_as_start_returns(self, backend: Backend) -> None:
        """Nobody has to wait again: the address lists the model that requests must name."""
        with backend as endpoint:
            listing = httpx.get(f"{endpoint.base_url}/models", trust_env=False).json()
            assert endpoint.model in [entry["id"] for entry in listing["data"]]

    def test_it_is_alive_between_start_and_stop_only(self, backend: Backend) -> None:
        """Whoever asks learns whether requests can be sent."""
        assert not backend.alive()
        backend.start()
        try:
            assert backend.alive()
        finally:
            backend.stop()
        assert not backend.alive()

    def test_stop_is_harmless_before_start_and_twice(self, backend: Backend) -> None:
        """A clean-up path may call it without knowing how far things went."""
        backend.stop()
        backend.start()
        backend.stop()
        backend.stop()
        assert not backend.alive()

    def test_an_error_inside_the_block_stops_it(self, backend: Backend) -> None:
        """No way out of the block leaves a server behind."""
        with pytest.raises(KeyboardInterrupt), backend:
            raise KeyboardInterrupt
        assert not backend.alive()

    def test_info_is_refused_before_start(self, backend: Backend) -> None:
        """Nothing is claimed about a server that nobody asked."""
        with pytest.raises(EndpointError):
            backend.info()

    def test_info_says_where_the_window_comes_from(self, backend: Backend) -> None:
        """A window without a source is no fact, and a source without a window neither."""
        with backend:
            info = backend.info()
        assert info.engine
        assert (info.window_tokens is None) == (info.window_source == "unknown")

    def test_it_can_be_started_again(self, backend: Backend) -> None:
        """The orchestrator restarts a server that died."""
        backend.start()
        backend.stop()
        with backend:
            assert backend.alive()
