# SPDX-License-Identifier: Apache-2.0
"""Measurements: one module a bench, each writing raw samples, machine, commit and goals as JSON."""
