# SPDX-License-Identifier: Apache-2.0
"""Serves files/ by WSGI."""

from pathlib import Path


def application(environ, start_response):
    body = (Path(__file__).parent / "files" / environ["PATH_INFO"].strip("/")).read_bytes()
    # uWSGI's own HTTP server keeps no connection.
    headers = [("Content-Length", str(len(body))), ("Connection", "close")]
    start_response("200 OK", headers)
    return [body]
