// How well a command fits what was typed: every word of it must be in the title or among the words beside it.
export function match(title: string, typed: string, beside: readonly string[] = []): number {
  const query = typed.trim().toLowerCase();
  if (query === "") return 1;
  const name = title.toLowerCase();
  if (name.startsWith(query)) return 1;
  const words = query.split(/\s+/);
  const starts = (text: string) => text.split(/[^\p{L}\p{N}]+/u);
  if (words.every((word) => starts(name).some((part) => part.startsWith(word)))) return 0.8;
  if (words.every((word) => name.includes(word))) return 0.6;
  const all = `${name} ${beside.join(" ").toLowerCase()}`;
  return words.every((word) => all.includes(word)) ? 0.4 : 0;
}
