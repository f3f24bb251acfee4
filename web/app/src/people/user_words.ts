// What is said about a user, and about where one is signed in.
import type { User } from "~/api/model";
import { linkHost } from "~/ui/link_host";

/** How the user can sign in. */
export function signsInWith({ has_password, issuer }: User): string {
  const ways = [has_password ? "a password" : null, issuer && (linkHost(issuer, "") ?? issuer)];
  return ways.filter(Boolean).join(" and ") || "nothing";
}

/** Times of accounts are seconds since 1970. */
export const instant = (seconds: number): string => new Date(seconds * 1000).toISOString();

/** Those whose name or team has the text. */
export function usersWith(text: string, users: readonly User[]): readonly User[] {
  const wanted = text.trim().toLowerCase();
  return users.filter((user) => [user.name, ...user.teams].some((word) => word.includes(wanted)));
}

// The first that fits: many browsers also name others.
const BROWSERS: readonly [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, "Edge"],
  [/\b(OPR|Opera)\//, "Opera"],
  [/\b(Firefox|FxiOS)\//, "Firefox"],
  [/\b(Chrome|CriOS|Chromium|HeadlessChrome)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];
const SYSTEMS: readonly [RegExp, string][] = [
  [/\b(iPhone|iPad)\b/, "iOS"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\b(Macintosh|Mac OS X)\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

/** A browser by its name and system; what is none keeps the words that it gave. */
export function clientName(given: string): string {
  const name = BROWSERS.find(([pattern]) => pattern.test(given))?.[1];
  const system = SYSTEMS.find(([pattern]) => pattern.test(given))?.[1];
  if (!name) return given || "Unknown program";
  return system ? `${name} on ${system}` : name;
}
