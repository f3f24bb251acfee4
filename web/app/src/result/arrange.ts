// Which rows are shown, and in which order: filters first, then the sorting.
import type { Row } from "~/api/model";
import { date, isShare, isTemporal, percent, type ShownColumn, time } from "~/format";
import { type Test, testOf } from "./filter";
import { type Ranks, ranksOf, sortPlaces } from "./order";

export interface View {
  /** By the place of the column. */
  sort: { at: number; descending: boolean } | null;
  filters: readonly { at: number; text: string }[];
  /** Over all columns. */
  quick: string;
}

export const AS_IT_CAME: View = { sort: null, filters: [], quick: "" };

const SLICE_MS = 8;

/** What is made once for a table, at first use: ranks of a column, words of a row. */
export class Prepared {
  readonly #ranks = new Map<number, Ranks>();
  readonly #spoken = new Map<string, string>();
  readonly #words: (string | undefined)[] = [];

  constructor(
    readonly columns: readonly ShownColumn[],
    readonly rows: readonly Row[],
  ) {}

  ranks(at: number): Ranks {
    const known = this.#ranks.get(at);
    if (known) return known;
    const column = this.columns[at];
    const fresh = column ? ranksOf(this.rows, at, column) : [];
    this.#ranks.set(at, fresh);
    return fresh;
  }

  /** All that can be found in a row. */
  words(place: number): string {
    const known = this.#words[place];
    if (known !== undefined) return known;
    const row = this.rows[place] ?? [];
    const fresh = row
      .map((value, at) => this.#word(value, at))
      .join("\n")
      .toLocaleLowerCase();
    this.#words[place] = fresh;
    return fresh;
  }

  /** Begun early, in pieces short enough to type between them. Gives a way to stop it. */
  prepareWords(): () => void {
    let place = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const go = () => {
      const end = performance.now() + SLICE_MS;
      while (place < this.rows.length && performance.now() < end) this.words(place++);
      timer = place < this.rows.length ? setTimeout(go) : undefined;
    };
    timer = setTimeout(go);
    return () => clearTimeout(timer);
  }

  #word(value: unknown, at: number): string {
    if (value === null || value === undefined) return "";
    if (typeof value === "boolean") return value ? "yes" : "no";
    const column = this.columns[at];
    const share = column !== undefined && isShare(column);
    if (!column || (!share && !isTemporal(column))) {
      return typeof value === "object" ? JSON.stringify(value) : String(value);
    }
    // The same days come up again and again, and writing one takes long.
    const key = String(value);
    const known = this.#spoken.get(key);
    if (known !== undefined) return known;
    const said = share ? percent(value) : (column.kind === "date" ? date(value) : time(value)).text;
    const spoken = `${key} ${said}`;
    this.#spoken.set(key, spoken);
    return spoken;
  }
}

/** The places of the rows to show. A filter that cannot be read holds nothing back. */
export function arrange(prepared: Prepared, view: View): number[] {
  const { rows, columns } = prepared;
  const tests: { at: number; test: Test }[] = [];
  for (const { at, text } of view.filters) {
    const column = columns[at];
    const test = column && text.trim() !== "" ? testOf(text, column) : null;
    if (test) tests.push({ at, test });
  }
  const wanted = quickWords(view.quick);
  const places: number[] = [];
  rows.forEach((row, place) => {
    if (!tests.every(({ at, test }) => test(row[at]))) return;
    if (wanted.length > 0) {
      const words = prepared.words(place);
      if (!wanted.every((ways) => ways.some((way) => words.includes(way)))) return;
    }
    places.push(place);
  });
  return view.sort ? sortPlaces(places, prepared.ranks(view.sort.at), view.sort.descending) : places;
}

/** Every word must be found somewhere in the row; a number also without its separators and closing zeros. */
export function quickWords(quick: string): string[][] {
  const words = quick.trim().toLocaleLowerCase().split(/\s+/).filter(Boolean);
  return words.map((word) => {
    const bare = word.replace(/^[€$£]|[€$£%]$/g, "").replace(/(\d)[,'](?=\d{3}(?!\d))/g, "$1");
    const trimmed = /^-?\d+\.\d*?0+$/.test(bare) ? bare.replace(/\.?0+$/, "") : bare;
    return [...new Set([word, bare, trimmed])].filter(Boolean);
  });
}
