"""The book on paper: the built site's pages as PDFs, one of the whole book and one a chapter.

A page of the site becomes a sheet (`sheet.py`): what only a screen can do is taken out, answers go
to the end, links get page numbers and notes. Sheets make a document (`document.py`), which Chromium
prints (`printing.py`): once to see on which page each place lies, and again with the numbers.
`words.py` has what is said, in each language.
"""
