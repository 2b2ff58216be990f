"""Each catalogue calls its reader by one form of you: Spanish says tú, German says Sie."""

from __future__ import annotations

import re
import unicodedata

import pytest

from labs.languages import po_file
from labs.languages.po_file import Entry, entries

#: What usted is asked to do, without accents. A word that is more often a noun is left out.
USTED = """
abra active adivine anote apague asegure avise añada borre busque calcule cambie cierre compare
compile complete compruebe comunique concluya considere conserve convierta copie corrija cuente
deje desactive detenga devuelva dibuje diga divida duerma duplique ejecute elija elimine empiece
entregue escoja escriba espere explique expulse fije guarde haga imprima indique instale intente
introduzca juzgue lea libere llame mida mire mueva muestre observe omita ordene permita pida ponga
prediga pregunte procure prohiba pruebe pulse quede quite rechace recuerde recupere registre
reinicie reinstale repare repita responda reste revise salte seleccione siga suba suelte sume
sustituya tenga tome toque trabaje use utilice vaya vea vuelva
"""
#: What du is asked to do. A word that is also a noun or an adjective is left out: `vergleiche`.
DU = """
beginne behalte berechne berichtige berühre beschreibe drücke entferne erhöhe ersetze erzeuge führe
gib hilf installiere lade lass lasse lege lies lösche mach mache miss nenne nimm probiere prüfe
schließe schreib schreibe setze sieh speichere starte tu verdopple verwende warte wiederhole wähle
zeichne zähle öffne übergib überprüfe
"""

#: Of a sentence or a clause, also after a mark of Markdown.
_BEGINNING = r"(?:^|\n|[.:;?!…]\s|[¿¡«„(]|,\s+(?:y|o|e|u|und|oder)\s)[\s#>*-]*"
_PRONOUNS = r"(?:se|me)?(?:l[aeo]s?)?"
#: How a reader is called in the register that a catalogue does not use.
NOT_USED = {
    "es": (
        re.compile(r"\busted(?:es)?\b", re.IGNORECASE),
        re.compile(
            rf"{_BEGINNING}(?:no\s+)?(?:{'|'.join(USTED.split())})n?{_PRONOUNS}\b", re.IGNORECASE
        ),
    ),
    "de": (
        # Not `DIR`, which is a folder that the reader names.
        re.compile(r"\b(?:[Dd](?:u|ich|ir|ein\w{0,2})|[Ee](?:uch|uer|ure\w?))\b"),
        re.compile(rf"{_BEGINNING}(?:{'|'.join(DU.split())})\b", re.IGNORECASE),
    ),
}

#: No words of the translation: values, and code between backticks.
_NO_WORDS = re.compile(r"\{\w*\}|`[^`\n]*`")
_YOURS = re.compile(r"\byours?\b", re.IGNORECASE)
_OF_ANOTHER = re.compile(r"\b(?:its|their|his|her|whose)\b|'s\b|s'", re.IGNORECASE)
_SU = re.compile(r"\bsu(?:s|y[ao]s?)?\b", re.IGNORECASE)
#: Phrases whose `su` is not the reader's.
_PHRASES = re.compile(r"\b(?:a su vez|en su lugar|por su nombre)\b", re.IGNORECASE)


def of_other_register(text: str, language: str) -> list[str]:
    """The words of a text that call its reader as this catalogue does not."""
    plain = without_acutes(_NO_WORDS.sub("_", text))
    return [match[0] for each in NOT_USED[language] for match in each.finditer(plain)]


def without_acutes(text: str) -> str:
    """`inténtelo` has an accent that `intente` has not: both without it. An ñ stays."""
    parts = unicodedata.normalize("NFD", text).replace("\N{COMBINING ACUTE ACCENT}", "")
    return unicodedata.normalize("NFC", parts)


def says_su_for_your(english: str, spanish: str) -> bool:
    """Whether a `su` can only be the reader's: English has `your`, and nothing of another."""
    if re.match(r"Yours?\b", english) and _SU.match(spanish):
        return True
    if not _YOURS.search(english) or _OF_ANOTHER.search(english):
        return False
    return bool(_SU.search(_PHRASES.sub("_", spanish)))


def of_catalogue(language: str) -> list[Entry]:
    return list(entries((po_file.FOLDER / f"{language}.po").read_text(encoding="utf-8")))


@pytest.mark.parametrize("language", NOT_USED)
def test_the_reader_is_called_by_one_form(language: str) -> None:
    """If this fails: write tú in `es.po`, as in "Mide otra vez", and Sie in `de.po`."""
    known = of_catalogue(language)
    assert len(known) > 2_000
    found = {each.translated: of_other_register(each.translated, language) for each in known}
    assert not {text: words for text, words in found.items() if words}


def test_what_belongs_to_the_reader_is_tu_in_spanish() -> None:
    """If this fails: write tu. If `su` is not the reader's there, add its phrase to `_PHRASES`."""
    known = of_catalogue("es")
    found = (each for each in known if says_su_for_your(each.english, each.translated))
    assert not [each.translated for each in found]


@pytest.mark.parametrize(
    ("language", "words", "example"),
    [
        ("es", USTED, "{Word} otra vez."),
        ("es", USTED, "Mide diez veces. No {word} nada."),
        ("es", USTED, "## Fin\n\n- {word} la carpeta"),
        ("es", USTED, "{{path}}: {word} otra"),
        ("es", USTED, "Mide otra vez, y {word} las cifras."),
        ("es", USTED, "Después: {word}nlos."),
        ("de", DU, "{Word} es noch einmal."),
        ("de", DU, "Das ist kurz. {Word} es noch einmal."),
        ("de", DU, "{{path}}: {word} einen anderen"),
        ("de", DU, "Messen Sie, und {word} das."),
    ],
)
def test_each_imperative_is_seen(language: str, words: str, example: str) -> None:
    texts = [example.format(word=each, Word=each.capitalize()) for each in words.split()]
    assert not [text for text in texts if not of_other_register(text, language)]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", "la memoria de la que usted cargó"),
        ("es", "Lo que ustedes ven."),
        ("es", "La carpeta está llena. Inténtelo otra vez."),
        ("es", "ninguna cifra la da: compárela en su práctica"),
        ("es", "Fíjese en la línea."),
        ("de", "das kannst du sehen"),
        ("de", "Deine Messwerte und die deines Kurses"),
        ("de", "Dir fehlt ein Wert."),
        ("de", "Habt ihr euch geirrt?"),
    ],
)
def test_the_other_register_is_seen(language: str, text: str) -> None:
    assert of_other_register(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", "Mide otra vez, e inténtalo después. Escríbelo así: `Use(1)`."),
        ("es", "haz que cada tarea espere a la otra cuando use la CPU"),
        ("es", "Los archivos, digan lo que digan sus nombres. Coste de una llamada"),
        ("de", "es gibt keinen Ordner {dir}{there}: labs start DIR"),
        ("de", "Messen Sie ihre Länge. Vergleiche und Versuche: Teile davon"),
    ],
)
def test_the_right_register_is_not_taken_for_the_other(language: str, text: str) -> None:
    assert of_other_register(text, language) == []


@pytest.mark.parametrize(
    ("english", "spanish", "seen"),
    [
        ("A prefetcher may foresee your loads.", "Un prefetcher puede prever sus cargas.", True),
        ("Your C makes its own claim.", "Su C hace su propia afirmación.", True),
        ("Is it yours?", "¿Es suyo?", True),
        ("A prefetcher may foresee your loads.", "Un prefetcher puede prever tus cargas.", False),
        ("Your variant states its parent.", "Tu variante declara su padre.", False),
        ("The run and what it made.", "La ejecución y sus muestras.", False),
        ("Write your number instead.", "Escribe en su lugar tu número.", False),
    ],
)
def test_su_for_your_is_seen(english: str, spanish: str, seen: bool) -> None:
    assert says_su_for_your(english, spanish) is seen
