"""The rules that read a question over one table into a draft, and turn the draft into a plan."""
