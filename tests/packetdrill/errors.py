# SPDX-License-Identifier: Apache-2.0
"""What ends a script: each error gives place and reason in one text, as packetdrill does."""


class ScriptError(Exception):
    """The script is wrong or uses an unsupported feature: no verdict about the stack."""


class Mismatch(Exception):
    """The stack did not do what the script expects."""


class NotSupported(ScriptError):
    """Of the language, but without a meaning on this back end."""
