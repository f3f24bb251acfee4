// What can be checked without the data: the form of each record, its digests, what its signature names, the signature.
// A link is `ok`, `broken`, `not_checked` with the reason, or a `reading` for a person to check.
import { LIVE, isLive } from "./words.js";
import { FORMATS, bytesOf, canonical, digestsOf, isPartial, sha256 } from "./digests.js";

const PAYLOAD_TYPE = "application/vnd.in-toto+json";
const STATEMENT = "https://in-toto.io/Statement/v1";
const CAPSULE = "https://sandtable.dev/capsule/v";
const SAID = "https://sandtable.dev/answer-page/v1";
const own = (value, name) => Object.prototype.hasOwnProperty.call(value, name);

export const link = (name, status, detail = "") => ({ name, status, detail });
export const isBroken = (links) => links.some(({ status }) => status === "broken");

// Everything on the page. What it shows is what is returned here, and comes from the payloads alone.
export async function checked(content, families) {
  const keys = await keysOf(content.keys);
  const records = await Promise.all(content.capsules.map((envelope) => checkedCapsule(envelope, keys, families)));
  return { records, page: await checkedPage(content.statement, records, keys) };
}

// By key id, which is the SHA-256 of the key: a page cannot give a key the id of another.
async function keysOf(listed) {
  const found = new Map();
  for (const text of listed) {
    const raw = bytesIn(text);
    found.set(await sha256(raw), raw);
  }
  return found;
}

async function checkedCapsule(envelope, keys, families) {
  const opened = await openedEnvelope(envelope, keys);
  if (opened.problem) return { ...opened, fields: null, links: [link("form", "broken", opened.problem), ...opened.signed] };
  const { statement } = opened, fields = statement.predicate;
  const problem = formatProblem(statement);
  if (problem) return { ...opened, fields: null, links: [link("form", "broken", problem), ...opened.signed] };
  const links = [link("form", "ok"), ...(await digestLinks(fields, families)), sealLink(statement), ...opened.signed];
  return { ...opened, fields, links };
}

function formatProblem(statement) {
  const fields = statement.predicate, version = fields?.schema_version;
  if (typeof version !== "string" || !own(FORMATS, version)) return `this page knows the formats ${Object.keys(FORMATS).join(", ")}, and not ${String(version)}`;
  if (statement.predicateType !== CAPSULE + version) return "it does not say that it is a record of this format";
  return "";
}

async function digestLinks(fields, families) {
  let found;
  try {
    found = await digestsOf(fields, families);
  } catch (error) {
    return [link("digests", "broken", `the recorded content is inconsistent: ${error.message}`)];
  }
  return found.filter(([, expected, given]) => expected !== null || given !== null).map(([name, expected, given]) => {
    const whole = name !== "result" || fields.result === null || fields.result.digest === given;
    if (expected !== given || !whole) return link(name, "broken", "the recorded digest does not fit the recorded content");
    if (name === "prompts" && !fitOrigin(fields)) return link(name, "broken", "they are not those of the origin");
    if (name === "data" && isLive(fields)) return link(name, "not_pinned", LIVE);
    return isPartial(fields, name) ? link(name, "not_checked", "kept only in part: its digest is over all of it") : link(name, "ok");
  });
}

function fitOrigin(fields) {
  if (!own(fields, "origin")) return true;
  return canonical(fields.prompts) === canonical((fields.origin?.prompts || []).map((one) => `sha256:${one.sha256}`));
}

function sealLink({ subject, predicate: fields }) {
  const named = [[`${fields.run_id}/result`, fields.digests.result], [`dataset/${fields.dataset_id}`, fields.digests.data]];
  const expected = named.filter(([, value]) => value).map(([name, value]) => ({ name, digest: { sha256: value.replace(/^sha256:/, "") } }));
  return canonical(subject) === canonical(expected) ? link("seal", "ok") : link("seal", "broken", "it names other rows or other data than the record holds");
}

// The page's own statement: which records it shows, and the words beside them.
async function checkedPage(envelope, records, keys) {
  const opened = await openedEnvelope(envelope, keys);
  const statement = opened.statement, said = statement?.predicate;
  const wrong = opened.problem || (statement.predicateType !== SAID || !Array.isArray(said?.answers) ? "it is not the statement of a page" : "");
  if (wrong) return { ...opened, said: null, links: [link("words", "broken", wrong), ...opened.signed] };
  const named = said.answers.flatMap(({ capsules }) => capsules);
  const listed = canonical(named) === canonical(records.map(({ payload }) => payload));
  const links = [listed ? link("words", "ok") : link("words", "broken", "it names other records than the page holds"), ...opened.signed];
  return { ...opened, said, links };
}

// Envelopes

async function openedEnvelope(envelope, keys) {
  const { keyid, sig } = envelope?.signatures?.length === 1 ? envelope.signatures[0] : {};
  let payload;
  try {
    payload = bytesIn(envelope.payload);
  } catch {
    return { problem: "the payload is not base64", payload: null, keyid, signed: [link("signature", "broken", "there is no payload")] };
  }
  const signed = await signatureLinks(envelope, payload, keyid, sig, keys);
  const opened = { keyid, payload: `sha256:${await sha256(payload)}`, signed, problem: "", statement: null };
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(payload);
    const statement = JSON.parse(text);
    if (canonical(statement) !== text) return { ...opened, problem: "the payload is not in canonical form" };
    if (statement?._type !== STATEMENT || Object.keys(statement).length !== 4) return { ...opened, problem: "the payload is no in-toto statement" };
    return { ...opened, statement };
  } catch (error) {
    return { ...opened, problem: `the payload is not JSON: ${error.message}` };
  }
}

async function signatureLinks(envelope, payload, keyid, sig, keys) {
  if (envelope.payloadType !== PAYLOAD_TYPE) return [link("signature", "broken", "the type of the payload was changed")];
  const raw = keys.get(keyid);
  if (!raw) return [link("signature", "broken", "the page has no public key with the id that the signature names")];
  const signer = link("signer", "reading", keyid);
  const head = bytesOf(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `), message = new Uint8Array(head.length + payload.length);
  message.set(head);
  message.set(payload, head.length);
  let key;
  try {
    key = await crypto.subtle.importKey("raw", raw, { name: "Ed25519" }, false, ["verify"]);
  } catch (error) {
    if (error.name !== "NotSupportedError") return [link("signature", "broken", `the key is none: ${error.message}`), signer];
    return [link("signature", "not_checked", "this browser cannot check Ed25519 signatures"), signer];
  }
  try {
    if (await crypto.subtle.verify({ name: "Ed25519" }, key, bytesIn(sig), message)) return [link("signature", "ok"), signer];
  } catch (error) {
    return [link("signature", "broken", `the signature is none: ${error.message}`), signer];
  }
  return [link("signature", "broken", "the signature does not fit: the record or the signature was changed"), signer];
}

// Strict: the same bytes have one base64.
function bytesIn(text) {
  const made = atob(text);
  if (btoa(made) !== text) throw new Error("it is not base64");
  return Uint8Array.from(made, (char) => char.charCodeAt(0));
}
