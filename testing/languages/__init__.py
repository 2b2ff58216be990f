"""The sentences that can be translated, taken from where they are written.

python -m testing.languages
"""
