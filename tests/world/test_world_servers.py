"""Search over the live `tools/list` of a real server that is not ours."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from toolsearch.catalog.formats import parse_catalog
from toolsearch.search.searcher import Searcher
