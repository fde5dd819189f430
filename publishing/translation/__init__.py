"""The book in another language: what is to be translated, and where a translation is put.

The English text is the one source. Its messages stand in `book/locale`, a catalogue a page, and a
few for what is no page. A page in another language is the English one with its messages exchanged:
the site and the notebooks are made of the same text.
"""
