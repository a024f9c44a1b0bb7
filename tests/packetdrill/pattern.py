# SPDX-License-Identifier: Apache-2.0
"""The payload of connections: byte n of a stream has the same value in any segment or call, so
lost, repeated or misplaced bytes are detected."""

PERIOD = 251  # a prime: no segment size is a multiple
_ONCE = bytes((i * 7 + 1) % PERIOD for i in range(PERIOD))
_LONG = _ONCE * (2 + (1 << 20) // PERIOD)


def stream(at: int, n: int) -> bytes:
    """Returns n bytes of the stream from offset `at` on."""
    start = at % PERIOD
    if start + n <= len(_LONG):
        return _LONG[start : start + n]
    return (_ONCE * (n // PERIOD + 2))[start : start + n]
