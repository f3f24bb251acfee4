"""Questions that people keep under a name, and boards on which they put them; knows no protocol.

A kept question names the run whose result it shows, and can be run again. A board places questions and texts on a grid,
and has conditions that are added to the plans of its questions.
"""
