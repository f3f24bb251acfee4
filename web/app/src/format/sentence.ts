/** The server's advice begins with a small letter, because it may follow a colon elsewhere. */
export function sentence(text: string): string {
  if (text === "") return text;
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!]$/.test(capital) ? capital : `${capital}.`;
}
