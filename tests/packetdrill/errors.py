# SPDX-License-Identifier: Apache-2.0
"""Errors that end a script: one text gives place and reason, as packetdrill does."""


class ScriptError(Exception):
    """The script is wrong or uses an unsupported feature: no verdict about the stack."""


class Mismatch(Exception):
    """The stack did not do what the script expects."""


class NotSupported(ScriptError):
    """A feature of the language that has no meaning on this back end."""
