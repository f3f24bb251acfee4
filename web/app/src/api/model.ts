// Names for what the server speaks of; the shapes themselves are generated (npm run types).
import type { components as Answering } from "./events";
import type { components } from "./schema";

type Schemas = components["schemas"];
type Events = Answering["schemas"];

export type Me = Schemas["Me"];
export type ApiKey = Schemas["KeyView"];
export type NewKey = Schemas["NewKey"];
export type User = Schemas["UserView"];
export type ChangedUser = Schemas["ChangedUser"];
export type Team = Schemas["TeamView"];
export type SignedInSession = Schemas["SessionView"];
export type KeyScope = NewKey["key"]["scopes"][number];
export type DatasetSummary = Schemas["DatasetSummary"];
export type Sharing = Schemas["Sharing"];
export type SharesView = Schemas["SharesView"];
export type KeptQuestion = Schemas["QuestionView"];
export type BoardSummary = Schemas["BoardSummary"];
export type Board = Schemas["BoardView"];
export type BoardTile = Schemas["Tile"];
/** A filter of a board. */
export type BoardCondition = Schemas["Condition"];
export type BoardResults = Schemas["BoardResults"];
/** What a tile shows. */
export type TileResult = Schemas["TileResult"];
export type Dataset = Schemas["Dataset"];
export type Table = Schemas["Table"];
export type Column = Schemas["Column"];
export type ColumnType = Schemas["ColumnType"];
export type Metric = Schemas["Metric"];
export type Relationship = Schemas["Relationship"];
export type DatasetSchema = Schemas["DatasetSchema"];
export type TableSchema = Schemas["TableSchema"];
export type Sample = Schemas["Sample"];
export type Import = Schemas["Import"];
export type Databases = Schemas["Databases"];
export type Database = Schemas["DatabaseView"];
/** A database as it is now: what its role can do, and its tables. */
export type DatabaseLook = Schemas["DatabaseLook"];
export type LiveDataset = Schemas["LiveDataset"];
export type DatabaseTable = Schemas["DatabaseTable"];
export type FileQuestion = Schemas["FileQuestion"];
export type Repair = Schemas["Repair"];
export type Reading = Schemas["Reading"];
export type TableReading = Schemas["TableReading"];
export type ColumnReading = Schemas["ColumnReading"];
/** What is said about a dataset, by its data and by people. */
export type Catalog = Schemas["CatalogView"];
export type CatalogEdition = Schemas["EditionView"];
export type Semantics = Schemas["Semantics"];
export type TableSemantics = Schemas["TableSemantics"];
export type ColumnSemantics = Schemas["ColumnSemantics"];
export type JoinSemantics = Schemas["JoinSemantics"];
export type MetricSemantics = Schemas["MetricSemantics"];
/** What the data suggest, for a person to confirm. */
export type ImportedCatalog = Schemas["ImportedCatalog"];
export type Proposals = Schemas["ProposalsView"];
export type Meanings = Schemas["Meanings"];
export type ColumnMeaning = Schemas["ColumnMeaningView"];
export type Meaning = Schemas["Meaning"];
export type Profile = Schemas["Profile"];
export type TableProfile = Schemas["TableProfile"];
export type ColumnProfile = Schemas["ColumnProfile"];
export type RunView = Schemas["RunView"];
export type RunPage = Schemas["RunPage"];
export type RunBody = Schemas["RunBody"];
export type RunStatus = RunView["status"];
export type CheckBody = Schemas["CheckBody"];
export type VerdictView = Schemas["VerdictView"];
export type VerdictRecord = Schemas["VerdictRecord"];
/** A column of a result, with its logical type and, where it is known, its unit. */
export type ResultColumn = Schemas["DescribedColumn"];
/** A run's rows as one kind of chart, and the kinds that can show them. */
export type ChartView = Schemas["ChartView"];
export type ChartKind = ChartView["kinds"][number];
export type Limits = Schemas["Limits"];
export type Report = Schemas["VerifyReport"];
export type Link = Schemas["Link"];
export type Keys = Schemas["Keys"];
export type Readiness = Schemas["Readiness"];
export type ReadAs = Schemas["ReadAs"];
export type ReadPart = Schemas["ReadPart"];
/** Another plan, with the words to take it by. */
export type Choice = Schemas["Choice"];
export type Offer = Schemas["Offer"];
/** Why a run found nothing. */
export type Explanation = Schemas["ExplanationView"];
/** A mark of trust: derived from what a capsule seals, never claimed. */
export type Mark = ReadAs["trust"][number];

/** What happens while a question is answered. */
export type SandtableEvent = Events["Event"];
export type CodeEvent = Events["Code"];
export type MessageEvent = Events["Message"];
export type Ending = MessageEvent["ending"];
/** What code showed besides text, as the server sends it. */
export type SentArtifact = Events["ArtifactShown"]["artifact"];

/** One cell as JSON: long integers, decimals, dates and times are text. */
export type Cell = unknown;
export type Row = readonly Cell[];
export type PlanJson = Record<string, unknown>;

/** A Plotly figure, as the server draws it. */
export interface Figure {
  data: Record<string, unknown>[];
  layout?: Record<string, unknown>;
}

/** A figure of the wire, which says only that it is an object; nothing where it is none. */
export function figureOf(value: unknown): Figure | null {
  if (!isFields(value)) return null;
  const data = Array.isArray(value.data) ? value.data.filter(isFields) : [];
  return { data, layout: isFields(value.layout) ? value.layout : {} };
}

export const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** As the server says them: `MARK_WORDS` of capsule/trust.py. */
export const MARKS: Readonly<Record<Mark, { word: string; means: string }>> = {
  defined: { word: "defined", means: "only declared metrics and columns" },
  read_literally: { word: "read literally", means: "every word is bound by the built-in planner" },
  proposed_by_model: {
    word: "proposed by a model",
    means: "a model made the plan, or a part of it, from the question",
  },
};

const ENDED: ReadonlySet<RunStatus> = new Set<RunStatus>(["succeeded", "failed", "rejected", "cancelled"]);

export function hasEnded(status: RunStatus): boolean {
  return ENDED.has(status);
}

/** The earlier run that answered, where there is one that may be opened. */
export function earlierRun({ cached_from }: Pick<RunView, "cached_from">): string | null {
  return cached_from === "hidden" ? null : cached_from;
}
