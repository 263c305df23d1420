"""The error that a client gets: a status, one line, and a code for programs."""

from typing import Any

CODES = {
    400: "bad_request",
    401: "no_token",
    403: "forbidden",
    404: "not_found",
    405: "wrong_method",
    406: "not_acceptable",
    409: "wrong_order",
    413: "too_large",
    414: "too_large",
    426: "upgrade_required",
    429: "too_many_requests",
    431: "too_large",
    500: "environment_failed",
    501: "not_supported",
    503: "full",
    504: "environment_timeout",
}


class RefusedRequest(Exception):
    """A request that gets no result.

    Args:
        status: the HTTP status.
        message: one line that begins with the field or the subject.
    """

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status

    @property
    def code(self) -> str:
        """A name of the kind of error."""
        return CODES.get(self.status, "bad_request")

    def body(self) -> dict[str, Any]:
        """Returns the JSON body."""
        return {"error": str(self), "code": self.code}
