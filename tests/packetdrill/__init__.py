# SPDX-License-Identifier: Apache-2.0
"""A runner for scripts in packetdrill's language (README.md)."""
