from __future__ import annotations

import pytest

from toolsearch.catalog.builtin import builtin_catalog
from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.config import DEFAULT
from toolsearch.search.searcher import Searcher

SEARCHER = Searcher(ToolRegistry(builtin_catalog()))
WANTED = ("CronDelete", "ScreenCapture", "PdfRead", "TestRun", "ClipboardWrite", "DiffView", "Config")
"""What every language asks for, in this order: cancel a job, take a screenshot, get tables out of a PDF, run tests, copy
to the clipboard, compare versions, change the settings."""
ASKED = {
    "zh": ("取消定时任务", "截屏", "从PDF提取表格", "运行测试", "复制到剪贴板", "比较两个版本", "修改设置"),
    "ja": (
        "定期ジョブを取り消す",
        "スクリーンショットを撮る",
        "PDFから表を抽出",
        "テストを実行",
        "クリップボードにコピー",
        "バージョンを比較",
        "設定を変更",
    ),
    "ko": ("예약 작업 취소", "스크린샷 찍기", "PDF 표 추출", "테스트 실행", "클립보드 복사", "버전 비교", "설정 변경"),
    "es": (
        "cancelar una tarea programada",
        "hacer una captura de pantalla",
        "extraer tablas de un pdf",
        "ejecutar las pruebas",
        "copiar al portapapeles",
        "comparar dos versiones",
        "cambiar la configuración",
    ),
    "de": (
        "einen geplanten Auftrag abbrechen",
        "ein Bildschirmfoto machen",
        "Tabellen aus einer PDF auslesen",
        "die Tests ausführen",
        "in die Zwischenablage kopieren",
        "zwei Versionen vergleichen",
        "Einstellungen ändern",
    ),
    "fr": (
        "annuler une tâche planifiée",
        "faire une capture d'écran",
        "extraire les tableaux d'un pdf",
        "exécuter les tests",
        "copier dans le presse-papiers",
        "comparer deux versions",
        "changer les paramètres",
    ),
    "pt": (
        "cancelar uma tarefa agendada",
        "tirar uma captura de tela",
        "extrair tabelas de um pdf",
        "executar os testes",
        "copiar para a área de transferência",
        "comparar duas versões",
        "alterar as configurações",
    ),
}


@pytest.mark.parametrize(
    ("query", "wanted"),
    [(query, wanted) for queries in ASKED.values() for query, wanted in zip(queries, WANTED, strict=True)],
)
def test_a_request_in_another_language_finds_the_tool_that_is_described_in_english(query: str, wanted: str) -> None:
    """Nothing is installed for it: the built-in words are enough for the actions and objects of tools."""
    assert wanted in [result.name for result in SEARCHER.search(query, max_results=3).results]


@pytest.mark.parametrize("query", ["取消定时任务", "設定を変更", "클립보드 복사", "copiar al portapapeles"])
def test_without_the_weights_of_translation_nothing_is_translated(query: str) -> None:
    """The words alone, which no description in English has, find nothing."""
    off = DEFAULT.replace(translation_weight=0.0, loose_translation_weight=0.0)
    assert Searcher(ToolRegistry(builtin_catalog()), off).search(query).results == ()


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("I want my money back", "refund_payment"),
        ("call off the appointment", "cancel_event"),
        ("keep an eye on the machine", "monitor_server"),
        ("will I need an umbrella", "get_forecast"),
        ("hand out the work", "assign_task"),
    ],
)
def test_a_phrase_of_everyday_speech_finds_the_tool_that_is_called_otherwise(query: str, wanted: str) -> None:
    """Of five tools whose words the query does not use, the one that it means is first."""
    names = ("refund_payment", "cancel_event", "monitor_server", "get_forecast", "assign_task")
    searcher = Searcher([Tool(name=name) for name in names])
    assert searcher.search(query).results[0].name == wanted
