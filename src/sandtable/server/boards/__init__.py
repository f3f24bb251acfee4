"""Kept questions and boards, over REST: kept, shown, run again, placed, filtered."""

from __future__ import annotations

from sandtable.server.adapter import Adapter
from sandtable.server.boards import board_routes, question_routes

ADAPTER = Adapter((question_routes.router, board_routes.router))
