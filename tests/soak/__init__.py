# SPDX-License-Identifier: Apache-2.0
"""Debian's servers under load, reloaded in the middle: on Linux, then on Toehold."""
