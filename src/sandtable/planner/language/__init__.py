"""English as text: words, stems, numbers, times and the token view of a question. Nothing here depends on a dataset."""
