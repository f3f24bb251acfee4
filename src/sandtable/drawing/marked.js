// The few marks of Markdown that sentences have; everything else stays as it is written.
const MARKS = /(\*\*[^*\n]+\*\*|`[^`\n]+`|\*[^*\n]+\*|\\[\\`*_{}[\]()#+.!|<>~-])/;

export const marked = (h, words) => words.split(MARKS).map((part) => {
  if (/^\*\*.+\*\*$/.test(part)) return h("strong", null, marked(h, part.slice(2, -2)));
  if (/^`.+`$/.test(part)) return h("code", null, part.slice(1, -1));
  if (/^\*.+\*$/.test(part)) return h("em", null, marked(h, part.slice(1, -1)));
  return /^\\.$/.test(part) ? part[1] : part;
});
