/** A text around the part that is meant. The gate counts characters; text here is indexed by UTF-16 units. */
export function marked(text: string, position: number, length: number) {
  const characters = Array.from(text);
  const end = position + Math.max(length, 1);
  return {
    before: characters.slice(0, position).join(""),
    within: characters.slice(position, end).join(""),
    after: characters.slice(end).join(""),
  };
}
