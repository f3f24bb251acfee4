// What each link says, in plain words: its name, and what it proves where it holds.
export const LINKS = {
  form: ["Form", "The record is written in its one exact form: no byte of it can differ without being noticed."],
  data: ["Data version", "The record names one version of the data, by a digest of its bytes and its columns. The data itself is not here."],
  question: ["Question", "The question is the one that was recorded."],
  plan: ["Plan", "The plan is the one that was recorded."],
  sql: ["SQL", "The SQL is the one that was handed in or made from the plan."],
  executed_sql: ["SQL that ran", "The SQL shown here is the text that ran."],
  prompts: ["Prompts", "The digests of the prompts that led to the plan are the recorded ones."],
  limits: ["Limits", "The limits of the run are the recorded ones."],
  result: ["Rows", "Every cell, and the name and type of every column, is the recorded one: the digest was computed again from the rows shown here."],
  chart: ["Chart", "The chart is drawn here from the figure that was recorded."],
  origin: ["Who proposed it", "Who proposed the plan or SQL is stated as it was recorded."],
  python: ["Python", "The code is the one that ran."],
  names: ["Names of tables", "The names that the code had for tables are the recorded ones."],
  before: ["Earlier cells", "The code that ran before in the same session is the recorded one."],
  artifacts: ["What the code showed", "Tables and drawings are those that the code showed."],
  stdout: ["What the code printed", "The printed text is the recorded one."],
  catalog: ["Catalog", "The record names one version of what is said about the data."],
  pin: ["What is pinned", "What the data version pins is stated as it was recorded."],
  asked_by: ["Who asked", "Who asked is stated as it was recorded."],
  digests: ["Digests", "Every part fits its recorded digest."],
  seal: ["Seal", "What was signed names these rows and this data version."],
  signature: ["Signature", "Nothing in the record was changed since it was signed."],
  signer: ["Signer", ""],
  words: ["Words", "The sentence, the reading and the units were signed together with the records they stand beside."],
};

export const STATES = {
  ok: ["✓", "holds"],
  broken: ["✗", "broken"],
  not_checked: ["–", "not checked"],
  not_pinned: ["~", "not pinned"],
  reading: ["?", "for you to check"],
};

export const nameOf = (name) => (LINKS[name] || [name, ""])[0];
export const provesOf = (name) => (LINKS[name] || ["", "The part fits its recorded digest."])[1];

export const SIGNER = "The page cannot know whose key this is. Compare the id with the one that the server shows under Public key, or that `sandtable key` prints: ";

export const LIVE = "The rows stayed in a database, where they can change: the version is a digest of their columns only. The record proves what the database gave at that moment.";

const ASKED_AGAIN = ["plan → SQL → rows", "not_checked", "What the database gives now is asked where it is connected: `sandtable verify FILE` does it. Other rows now break nothing."];

// Links that need more than this page.
export const elsewhere = (fields) => (isLive(fields) ? [ELSEWHERE[0], ASKED_AGAIN] : ELSEWHERE);

export const isLive = (fields) => fields?.pin?.kind === "live";

const ELSEWHERE = [
  ["question → plan", "reading", "That the plan or SQL is what the question means cannot be computed. It is a reading: read it and judge."],
  ["data → plan → SQL → rows", "not_checked", "That this data, asked this way, gives these rows is derived by running it again. That needs the data: where it is, `sandtable verify FILE` does it."],
];

export const PROVES = [
  "Nothing shown here was changed since it was signed: question, plan, SQL, rows, chart and sentence.",
  "The rows are those of the run that the record describes, with its time, its limits and the version of the data.",
  "It was signed with the key whose id is shown.",
];

export const PROVES_NOT = [
  "Whose key it is. Compare its id with the one that the signer gave you.",
  "That the question was understood as it was meant. The plan and the SQL are here to be read.",
  "That the data is right, or that the rows follow from it. `sandtable verify FILE` runs it again where the data is.",
  "That this page checks honestly: anyone who can change a page can change its program. `sandtable verify FILE` uses its own, and also says whether the page's program is the one that was signed.",
];
