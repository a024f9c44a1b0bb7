# SPDX-License-Identifier: Apache-2.0
"""Serves files/ by ASGI."""

from pathlib import Path


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    body = (Path(__file__).parent / "files" / scope["path"].strip("/")).read_bytes()
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": body})
