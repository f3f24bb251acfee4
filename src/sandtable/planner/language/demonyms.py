"""Words for people and things of a country, with the country: `German` is of Germany."""

from __future__ import annotations

COUNTRIES = {
    "american": "United States", "argentine": "Argentina", "argentinian": "Argentina", "australian": "Australia",
    "austrian": "Austria", "belgian": "Belgium", "brazilian": "Brazil", "british": "United Kingdom",
    "bulgarian": "Bulgaria", "canadian": "Canada", "chilean": "Chile", "chinese": "China", "colombian": "Colombia",
    "croatian": "Croatia", "czech": "Czechia", "danish": "Denmark", "dutch": "Netherlands", "egyptian": "Egypt",
    "english": "England", "estonian": "Estonia", "finnish": "Finland", "french": "France", "german": "Germany",
    "greek": "Greece", "hungarian": "Hungary", "icelandic": "Iceland", "indian": "India", "indonesian": "Indonesia",
    "irish": "Ireland", "israeli": "Israel", "italian": "Italy", "jamaican": "Jamaica", "japanese": "Japan",
    "kenyan": "Kenya", "korean": "South Korea", "latvian": "Latvia", "lithuanian": "Lithuania",
    "malaysian": "Malaysia", "mexican": "Mexico", "moroccan": "Morocco", "nigerian": "Nigeria",
    "norwegian": "Norway", "peruvian": "Peru", "polish": "Poland", "portuguese": "Portugal", "romanian": "Romania",
    "russian": "Russia", "scottish": "Scotland", "serbian": "Serbia", "singaporean": "Singapore",
    "slovak": "Slovakia", "slovenian": "Slovenia", "spanish": "Spain", "swedish": "Sweden", "swiss": "Switzerland",
    "taiwanese": "Taiwan", "thai": "Thailand", "turkish": "Turkey", "ukrainian": "Ukraine", "vietnamese": "Vietnam",
    "welsh": "Wales",
}  # fmt: skip
