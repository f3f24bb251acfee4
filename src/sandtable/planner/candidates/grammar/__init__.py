"""The rules that read a question from one table into a draft, and make the draft a plan."""
