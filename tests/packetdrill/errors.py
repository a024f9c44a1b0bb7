# SPDX-License-Identifier: Apache-2.0
"""What ends a script: each says where and why in one text, as packetdrill does."""


class ScriptError(Exception):
    """The script is wrong, or asks for what there is not: no verdict about the stack."""


class Mismatch(Exception):
    """The stack did something else than the script says."""


class NotSupported(ScriptError):
    """Of the language, but without a meaning on this back end."""
