// The digests of a capsule as `sandtable.capsule` computes them: canonical JSON (RFC 8785), SHA-256, and the digest of
// rows. `families` says how the cells of each type of column are encoded; the page's maker puts it into the page.
const BITS = 2 ** 26;
const SCALE = 1.1283791670955126;
const NOISE = 2 ** -40;
const MOST_DIGITS = 10000;
const LOG_CHARS = 8192;

export const bytesOf = (text) => new TextEncoder().encode(text);
const own = (value, name) => Object.prototype.hasOwnProperty.call(value, name);
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

export async function sha256(bytes) {
  const made = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(made, (one) => one.toString(16).padStart(2, "0")).join("");
}

export const digest = async (value) => `sha256:${await sha256(bytesOf(canonical(value)))}`;

// The digest of rows

export async function resultDigest(columns, rows, families) {
  const head = canonical({ format: "sandtable.result/1", columns });
  const lines = encodedRows(columns, rows, families).sort();
  return `sha256:${await sha256(bytesOf([head, ...lines].join("\n")))}`;
}

export function encodedRows(columns, rows, families) {
  const types = columns.map(([, name]) => parsedType(name, families));
  if (rows.some((row) => row.length !== types.length)) throw new Error("a row has more or fewer cells than there are columns");
  const floors = types.map((type, i) => scaleOf(rows.map((row) => row[i]), type) * NOISE);
  return rows.map((row) => asciiJson(row.map((cell, i) => encodedCell(cell, types[i], floors[i])), ","));
}

// JSON in ASCII as Python's `json.dumps` writes it.
function asciiJson(value, comma) {
  if (Array.isArray(value)) return `[${value.map((one) => asciiJson(one, comma)).join(comma)}]`;
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const inOrder = (pairs) => pairs.map((pair) => [asciiJson(pair, ", "), pair]).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, pair]) => pair);

function encodedCell(cell, type, floor) {
  if (cell === null) return null;
  if (type.family) return encodedScalar(cell, type.family, floor);
  if (type.item && Array.isArray(cell)) return ["l", ...cell.map((part) => encodedCell(part, type.item, floor))];
  const parts = type.items && (typeof cell === "string" ? [...cell] : cell);
  if (Array.isArray(parts) && parts.length === type.items.length) {
    return ["l", ...parts.map((part, i) => encodedCell(part, type.items[i], floor))];
  }
  if (type.fields && isObject(cell)) {
    return ["r", ...type.fields.map(([name, inner]) => [name, encodedCell(own(cell, name) ? cell[name] : null, inner, floor)])];
  }
  const pairs = type.key ? pairsOf(cell) : null;
  if (pairs) return ["m", ...inOrder(pairs.map(([k, v]) => [encodedCell(k, type.key, floor), encodedCell(v, type.value, floor)]))];
  return encodedScalar(cell, "any", floor);
}

// A map is an object when its keys are text, and an array of pairs otherwise.
function pairsOf(cell) {
  if (isObject(cell)) return Object.entries(cell);
  if (!Array.isArray(cell)) return null;
  const parts = cell.map((pair) => (typeof pair === "string" ? [...pair] : Array.isArray(pair) ? pair : []));
  return parts.every((pair) => pair.length === 2) ? parts : null;
}

function encodedScalar(cell, family, floor) {
  if (typeof cell === "boolean") return `b:${cell}`;
  const number = family === "float" || family === "any" ? numberIn(cell) : null;
  if (number !== null) return snapped(number, floor);
  if (family === "int" && isInteger(cell)) return `i:${BigInt(cell)}`;
  if (family === "decimal") return encodedDecimal(cell);
  if (typeof cell === "string") return `${family === "time" ? "t" : "s"}:${cell}`;
  return encodedUntyped(cell, floor);
}

function encodedUntyped(cell, floor) {
  const any = { family: "any" };
  if (isObject(cell)) return ["r", ...inOrder(Object.entries(cell).map(([key, part]) => [key, encodedCell(part, any, floor)]))];
  if (Array.isArray(cell)) return ["l", ...cell.map((part) => encodedCell(part, any, floor))];
  return snapped(cell, floor);
}

const isInteger = (cell) => (typeof cell === "string" ? /^-?[0-9]{1,1000}$/.test(cell) : Number.isInteger(cell));

// Exact for any number of digits: the point is moved in the text.
function encodedDecimal(cell) {
  if (typeof cell === "object") throw new Error("a decimal is a list or an object");
  const text = String(cell);
  const special = /^([+-]?)(?:(inf(?:inity)?)|nan)$/i.exec(text.trim());
  if (special) return `d:${special[1] === "-" ? "-" : ""}${special[2] ? "Infinity" : "NaN"}`;
  const found = /^([+-]?)(?=[0-9]|\.[0-9])([0-9]*)(?:\.([0-9]*))?(?:e([+-]?[0-9]+))?$/i.exec(text.trim().replaceAll("_", ""));
  if (!found) return `s:${text}`;
  const [, sign, whole, part = "", power = "0"] = found;
  const digits = (whole + part).replace(/^0+(?=.)/, ""), shift = Number(power) - part.length;
  if (Math.abs(digits.length - 1 + shift) > MOST_DIGITS) return `s:${text}`;
  if (/^0*$/.test(digits)) return "d:0";
  const padded = shift >= 0 ? digits + "0".repeat(shift) : digits.padStart(1 - shift, "0");
  const left = shift >= 0 ? padded : padded.slice(0, shift), right = shift >= 0 ? "" : padded.slice(shift).replace(/0+$/, "");
  return `d:${sign === "-" ? "-" : ""}${left}${right ? `.${right}` : ""}`;
}

const WORDS = { NaN: Number.NaN, Infinity: Number.POSITIVE_INFINITY, "-Infinity": Number.NEGATIVE_INFINITY };

const numberIn = (cell) => (typeof cell === "number" ? cell : typeof cell === "string" && own(WORDS, cell) ? WORDS[cell] : null);

// A double on the grid of 26 significant bits; see docs/capsule.md.
export function snapped(value, floor = 0) {
  if (Number.isNaN(value)) return "f:NaN";
  if (!Number.isFinite(value)) return value > 0 ? "f:Infinity" : "f:-Infinity";
  if (value === 0 || Math.abs(value) < floor) return "f:0";
  const [mantissa, exponent] = frexp(value);
  const [scaled, carry] = frexp(mantissa * SCALE);
  return `f:${halfToEven(scaled * BITS)}:${exponent + carry}`;
}

// value = mantissa * 2^exponent with 0.5 <= |mantissa| < 1.
function frexp(value) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = (view.getUint16(0) >> 4) & 0x7ff;
  if (bits === 0) {
    const [mantissa, exponent] = frexp(value * 2 ** 64);
    return [mantissa, exponent - 64];
  }
  view.setUint16(0, (view.getUint16(0) & 0x800f) | (1022 << 4));
  return [view.getFloat64(0), bits - 1022];
}

function halfToEven(value) {
  const low = Math.floor(value), rest = value - low;
  return rest > 0.5 || (rest === 0.5 && low % 2 !== 0) ? low + 1 : low;
}

function scaleOf(cells, type) {
  if (type.family && type.family !== "float" && type.family !== "any") return 0;
  let largest = 0;
  for (const cell of cells) for (const one of floatsIn(cell, type)) if (Number.isFinite(one)) largest = Math.max(largest, Math.abs(one));
  return largest;
}

function* floatsIn(cell, type) {
  if (type.family) {
    if (type.family === "float" || type.family === "any") yield* numbersIn(cell);
  } else if (type.item && Array.isArray(cell)) {
    for (const part of cell) yield* floatsIn(part, type.item);
  } else if (type.items && Array.isArray(cell)) {
    for (let i = 0; i < Math.min(cell.length, type.items.length); i += 1) yield* floatsIn(cell[i], type.items[i]);
  } else if (type.fields && isObject(cell)) {
    for (const [name, inner] of type.fields) yield* floatsIn(own(cell, name) ? cell[name] : null, inner);
  } else if (type.key) {
    for (const [k, v] of pairsOf(cell) || []) {
      yield* floatsIn(k, type.key);
      yield* floatsIn(v, type.value);
    }
  } else yield* numbersIn(cell);
}

function* numbersIn(cell) {
  const number = numberIn(cell);
  if (number !== null) yield number;
  else if (Array.isArray(cell)) for (const part of cell) yield* numbersIn(part);
  else if (isObject(cell)) for (const part of Object.values(cell)) yield* numbersIn(part);
}

// Names of types as small trees. A name that is not understood is "any".

const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const TOKEN = new RegExp(`${SPACE}*("(?:[^"]|"")*"|'(?:[^']|'')*'|\\[\\p{Nd}*\\]|[(),]|(?:(?!${SPACE})[^"'()\\[\\],])+)`, "uy");

function parsedType(name, families) {
  try {
    const tokens = tokensIn(name), [made, end] = typeAt(tokens, 0, families);
    return end === tokens.length ? made : { family: "any" };
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeEnds) return { family: "any" };
    throw error;
  }
}

class TypeEnds extends Error {}

function tokensIn(name) {
  const found = [];
  TOKEN.lastIndex = 0;
  let at = 0;
  for (let match = TOKEN.exec(name); match; match = TOKEN.exec(name)) {
    found.push(match[1]);
    at = TOKEN.lastIndex;
  }
  return new RegExp(`^${SPACE}*$`, "u").test(name.slice(at)) ? found : [];
}

function tokenAt(tokens, at) {
  if (at >= tokens.length) throw new TypeEnds();
  return tokens[at];
}

const OPENERS = { STRUCT: structAt, TUPLE: tupleAt, MAP: mapAt };

function typeAt(tokens, start, families) {
  const head = tokenAt(tokens, start).toUpperCase();
  let at = start + 1, made;
  if (own(OPENERS, head)) [made, at] = OPENERS[head](tokens, at, families);
  else {
    at = afterRest(tokens, at);
    made = { family: own(families, head) ? families[head] : "any" };
  }
  for (; at < tokens.length && tokens[at].startsWith("["); at += 1) made = { item: made };
  return [made, at];
}

function structAt(tokens, start, families) {
  const fields = [];
  let at = start;
  while (["(", ","].includes(tokenAt(tokens, at))) {
    let field = tokenAt(tokens, at + 1), made;
    if (field.startsWith('"')) field = field.slice(1, -1).replaceAll('""', '"');
    [made, at] = typeAt(tokens, at + 2, families);
    fields.push([field, made]);
  }
  return [{ fields }, at + 1];
}

function tupleAt(tokens, start, families) {
  const items = [];
  let at = start;
  while (["(", ","].includes(tokenAt(tokens, at))) {
    let made;
    [made, at] = typeAt(tokens, at + 1, families);
    items.push(made);
  }
  return [{ items }, at + 1];
}

function mapAt(tokens, start, families) {
  const [key, middle] = typeAt(tokens, start + 1, families);
  const [value, end] = typeAt(tokens, middle + 1, families);
  return [{ key, value }, end + 1];
}

function afterRest(tokens, start) {
  let at = start;
  while (at < tokens.length && ![",", ")"].includes(tokens[at]) && !tokens[at].startsWith("[")) {
    if (tokens[at] === "(") at = closing(tokens, at);
    at += 1;
  }
  return at;
}

function closing(tokens, start) {
  for (let at = start, depth = 0; ; at += 1) {
    depth += { "(": 1, ")": -1 }[tokenAt(tokens, at)] || 0;
    if (depth === 0) return at;
  }
}

// The digests of each format. A rule gives the digest that the content has: of the `fields` of a capsule.

function fieldOf(fields, name) {
  if (!own(fields, name)) throw new Error(`it has no ${name}`);
  return fields[name];
}

const recorded = (name) => (fields) => fieldOf(fields, name);
const whole = (name) => (fields) => digest(fieldOf(fields, name));
const optional = (name) => (fields) => (fieldOf(fields, name) === null ? null : digest(fields[name]));
const columnsOf = (table) => table.columns.map(({ name, type }) => [name, type]);

function ofResult(fields, families) {
  const result = fieldOf(fields, "result");
  if (result === null) return null;
  return result.rows_complete ? resultDigest(columnsOf(result), result.rows, families) : result.digest;
}

function ofCode(rule) {
  return (fields, families) => {
    if (fieldOf(fields, "python") !== null) return rule(fields, families);
    if (fields.artifacts.length || Object.keys(fields.names || {}).length || fields.before?.length) {
      throw new Error("it holds what code shows, and no code");
    }
    return null;
  };
}

async function artifactDigest(artifact, families) {
  if (artifact.kind !== "table") return digest(artifact);
  const { columns: _, rows, ...rest } = artifact;
  return digest({ ...rest, rows: await resultDigest(columnsOf(artifact), rows, families) });
}

async function ofArtifacts(fields, families) {
  const listed = [];
  for (const { id, kind, title, digest: given, artifact } of fields.artifacts) {
    const found = artifact === null ? given : await artifactDigest(artifact, families);
    const same = artifact === null || canonical([artifact.id, artifact.kind, artifact.title, found]) === canonical([id, kind, title, given]);
    listed.push([id, kind, title, same ? found : "inconsistent"]);
  }
  return digest(listed);
}

// Of what is kept only in part, the recorded digest is over all of it, and cannot be computed.
const ofBefore = (fields) => (fields.before === null ? fields.digests.before : digest(fields.before));
const ofStdout = (fields) => ([...fields.stdout].length < LOG_CHARS ? digest(fields.stdout) : fields.digests.stdout);

const V1 = {
  data: recorded("dataset_version"),
  question: whole("question"),
  plan: optional("plan"),
  sql: optional("sql"),
  executed_sql: optional("executed_sql"),
  prompts: whole("prompts"),
  limits: whole("limits"),
  result: ofResult,
};
const V2 = { ...V1, chart: optional("chart"), origin: optional("origin") };
const V3 = {
  ...V2,
  python: ofCode(whole("python")),
  names: ofCode(optional("names")),
  before: ofCode(ofBefore),
  artifacts: ofCode(ofArtifacts),
  stdout: ofCode(ofStdout),
};
const V4 = { ...V3, catalog: recorded("catalog_version") };
const V5 = { ...V4, asked_by: whole("asked_by") };
const V6 = { ...V5, pin: whole("pin") };

/** By `schema_version`. A new format is one line here: the digests that it adds. */
export const FORMATS = { 1: V1, 2: V2, 3: V3, 4: V4, 5: V5, 6: V6 };

// `[name, expected, recorded]` of each digest. Throws for content that is inconsistent.
export async function digestsOf(fields, families) {
  const found = [];
  for (const [name, rule] of Object.entries(FORMATS[fields.schema_version])) {
    found.push([name, await rule(fields, families), fields.digests[name] ?? null]);
  }
  return found;
}

export function isPartial(fields, name) {
  if (name === "result") return fields.result !== null && !fields.result.rows_complete;
  if (name === "before") return fields.python !== null && fields.before === null;
  return name === "stdout" && fields.python !== null && [...fields.stdout].length >= LOG_CHARS;
}
