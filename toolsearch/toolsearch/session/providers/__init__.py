"""The providers of models: how a session's tools and history become a request, and a reply becomes calls."""

from __future__ import annotations

from toolsearch.errors import UnknownNameError
from toolsearch.session.providers.anthropic import Anthropic
from toolsearch.session.providers.base import Provider, ProviderTools, Render, ToolCall, ToolOutcome
from toolsearch.session.providers.gemini import Gemini
from toolsearch.session.providers.names import NameMap
from toolsearch.session.providers.openai_chat import OpenAIChat
from toolsearch.session.providers.openai_responses import OpenAIResponses

__all__ = ["PROVIDERS", "NameMap", "Provider", "ProviderTools", "Render", "ToolCall", "ToolOutcome", "provider_for"]

_ALL: tuple[Provider, ...] = (Anthropic(), OpenAIChat(), OpenAIResponses(), Gemini())

PROVIDERS: tuple[str, ...] = tuple(provider.name for provider in _ALL)
"""The names that `provider_for` accepts."""


def provider_for(name: str) -> Provider:
    """The provider of this name. Grok and other servers with OpenAI's API are `openai-chat` or `openai-responses`.

    Raises:
        UnknownNameError: There is none of this name; carries the near ones.

    >>> [provider_for(name).name for name in PROVIDERS]
    ['anthropic', 'openai-chat', 'openai-responses', 'gemini']
    """
    for provider in _ALL:
        if provider.name == name:
            return provider
    raise UnknownNameError("provider", name, PROVIDERS, "Grok and other compatible servers are `openai-chat`.")
