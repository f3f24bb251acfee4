/** The host of an address on the web, unless the words of its link say it already. */
export function linkHost(href: string | undefined, words: string): string | null {
  if (!href || !/^https?:/i.test(href)) return null;
  try {
    const { host } = new URL(href);
    return words.includes(host) ? null : host;
  } catch {
    // No address that a browser understands leads anywhere.
    return null;
  }
}
