import type { HostedToolSpec, MediaPart, Model, ModelRequest, ModelSettings } from "capstan";

/** What a provider does with a feature; `some models`: those that can. */
export type Cell = "yes" | "some models" | "nearest" | "ignored" | "refused" | "–";

/** A feature, by how a client is asked for it. */
export type Feature = { readonly label: string } & (
  | {
      readonly settings: ModelSettings;
      /** Some models do it without being asked. */
      readonly isDefault?: boolean;
    }
  | { readonly hosted: HostedToolSpec }
  /** A user's message with the part; `marker` is a text of it that a request contains only if the part is sent. */
  | { readonly marker: string; createMedia(provider: string): MediaPart }
  | { readonly member: "files" | "embed" | "rerank" }
);

/** Reports one request of a client. */
export type Capture = (request: unknown) => void;

export type Column = {
  readonly label: string;
  /** Models that differ in what they can do. */
  readonly models: readonly string[];
  /** Creates a client that reports its requests and sends none. */
  create(model: string, capture: Capture): Model;
};

/** A feature is not sent, or is sent although the client says otherwise. */
type Checked = { readonly cell: Cell; readonly problem?: string };

const base: ModelRequest = {
  instructions: "Be brief.",
  history: [{ type: "user", content: "Hello" }],
  tools: [],
  toolChoice: "auto",
  thinking: false,
};
const look = {
  name: "look",
  description: "Looks at something",
  input: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
};

/** Compares what the clients of a column send with what they report. */
export async function checkCell(feature: Feature, column: Column): Promise<Checked> {
  const checked: Checked[] = [];
  for (const model of column.models) checked.push(await checkModel(feature, column, model));
  const cells = new Set(checked.map(({ cell }) => cell));
  const problem = checked.find((each) => each.problem !== undefined)?.problem;
  const [first = "–"] = cells;
  const cell = cells.size === 1 ? first : cells.has("yes") ? "some models" : first;
  return { cell, ...(problem !== undefined && { problem: `${column.label}: ${problem}` }) };
}

function checkModel(feature: Feature, column: Column, model: string): Promise<Checked> {
  if ("settings" in feature) return checkSettings(feature, column, model);
  if ("hosted" in feature) return checkHosted(feature, column, model);
  if ("marker" in feature) return checkMedia(feature, column, model);
  const client = column.create(model, () => undefined);
  return Promise.resolve({ cell: client[feature.member] ? "yes" : "–" });
}

async function checkSettings(
  { label, settings, isDefault = false }: Extract<Feature, { readonly settings: unknown }>,
  column: Column,
  model: string,
): Promise<Checked> {
  const reported = column.create(model, () => undefined).checkSettings?.(settings) ?? [];
  if (reported.some(({ isError }) => isError)) return { cell: "refused" };
  const { toolChoice = "auto", ...others } = settings;
  const plain = { ...base, tools: [look] };
  const isSent =
    (await captureRequest(column, model, plain)) !==
    (await captureRequest(column, model, { ...plain, toolChoice, settings: others }));
  if (reported.length > 0) return { cell: isSent ? "nearest" : "ignored" };
  if (isSent || isDefault) return { cell: "yes" };
  return { cell: "–", problem: `${label} is not sent to ${model}, and no limit in settings/ says so.` };
}

async function checkHosted(
  { label, hosted: tool }: Extract<Feature, { readonly hosted: unknown }>,
  column: Column,
  model: string,
): Promise<Checked> {
  const hosted = [tool];
  const reported = column.create(model, () => undefined).checkHosted?.({ hosted, hasFunctions: false }) ?? [];
  if (reported.length > 0) return { cell: "–" };
  const isSent =
    (await captureRequest(column, model, base)) !==
    (await captureRequest(column, model, { ...base, hosted }));
  if (isSent) return { cell: "yes" };
  return { cell: "–", problem: `${label} is not sent to ${model}, and hosted/support.ts does not say so.` };
}

async function checkMedia(
  { label, marker, createMedia }: Extract<Feature, { readonly marker: string }>,
  column: Column,
  model: string,
): Promise<Checked> {
  const client = column.create(model, () => undefined);
  const part = createMedia(client.id.split("/")[0] ?? "");
  const isAccepted = client.acceptsMedia?.(part) ?? true;
  const history = [{ type: "user" as const, content: [{ type: "text" as const, text: "Look" }, part] }];
  const isSent = hasMarker(JSON.parse(await captureRequest(column, model, { ...base, history })), marker);
  const cell = isSent ? "yes" : "–";
  if (isSent === isAccepted) return { cell };
  return {
    cell,
    problem: `${label} is ${isSent ? "" : "not "}sent to ${model}, but acceptsMedia says otherwise.`,
  };
}

/** Whether a value of the request is the marker. A marker within a longer text is a placeholder. */
function hasMarker(value: unknown, marker: string): boolean {
  if (typeof value === "string") return value === marker || value.endsWith(`;base64,${marker}`);
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).some((each) => hasMarker(each, marker))
  );
}

/** Returns the request that the client would send, as text. */
async function captureRequest(column: Column, model: string, request: ModelRequest): Promise<string> {
  let sent: unknown;
  const client = column.create(model, (value) => {
    sent = value;
  });
  const stream = client.stream(request, { signal: new AbortController().signal });
  try {
    for await (const _ of stream);
  } catch {
    // The captured request has no answer.
  }
  if (sent === undefined)
    throw new Error(`${column.label} sent no request. Check how its client is created.`);
  return JSON.stringify(sent);
}
