import type { AgentData } from "capstan/agents";
import { emptySettings, type SettingsDraft, toSettings, toSettingsDraft } from "./settings-draft.ts";

/** Contents of the agent form. Numbers are text. */
export type AgentDraft = {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  readonly model: string;
  readonly tools: readonly string[];
  readonly sources: readonly string[];
  readonly handoffs: readonly string[];
  readonly maxTurns: string;
  readonly cost: string;
  readonly approvals: "" | "ask" | "deny" | "allow";
  readonly gate: "" | "default" | "strict" | "off";
  readonly settings: SettingsDraft;
};

export const emptyDraft: AgentDraft = {
  ...{ name: "", description: "", prompt: "", model: "", tools: [], sources: [], handoffs: [] },
  ...{ maxTurns: "", cost: "", approvals: "", gate: "", settings: emptySettings },
};

/** Converts agent data to form contents. */
export function toDraft(data: AgentData): AgentDraft {
  const { name, description = "", prompt = "", model = "", policy = {} } = data;
  return {
    ...{ name, description, prompt },
    model: typeof model === "string" ? model : model.join(", "),
    tools: data.tools ?? [],
    sources: data.sources ?? [],
    handoffs: data.handoffs ?? [],
    maxTurns: policy.maxTurns === undefined ? "" : String(policy.maxTurns),
    cost: policy.budget?.cost === undefined ? "" : String(policy.budget.cost),
    approvals: policy.approvals ?? "",
    gate: policy.gate ?? "",
    settings: toSettingsDraft(data.settings),
  };
}

/** Converts form contents to agent data. Keeps original fields that the form does not show. */
export function toAgentData(draft: AgentDraft, original?: AgentData): AgentData {
  const { maxTurns: _, approvals: __, gate: ___, budget, ...rest } = original?.policy ?? {};
  const { cost: ____, ...limits } = budget ?? {};
  const cost = draft.cost.trim();
  const allLimits = { ...limits, ...(cost !== "" && { cost: toNumberIfValid(cost) }) };
  const policy = {
    ...rest,
    ...(draft.maxTurns.trim() !== "" && { maxTurns: toNumberIfValid(draft.maxTurns.trim()) }),
    ...(Object.keys(allLimits).length > 0 && { budget: allLimits }),
    ...(draft.approvals !== "" && { approvals: draft.approvals }),
    ...(draft.gate !== "" && { gate: draft.gate }),
  };
  const models = draft.model.split(",").flatMap((name) => name.trim() || []);
  const [model = ""] = models;
  const settings = toSettings(draft.settings);
  return {
    format: 1,
    name: draft.name.trim(),
    ...(draft.description.trim() !== "" && { description: draft.description.trim() }),
    ...(draft.prompt.trim() !== "" && { prompt: draft.prompt.trim() }),
    ...(models.length > 0 && { model: models.length === 1 ? model : models }),
    ...(draft.tools.length > 0 && { tools: draft.tools }),
    ...(draft.sources.length > 0 && { sources: draft.sources }),
    ...(draft.handoffs.length > 0 && { handoffs: draft.handoffs }),
    ...(Object.keys(policy).length > 0 && { policy: policy as NonNullable<AgentData["policy"]> }),
    ...(settings && { settings }),
  };
}

/** Passes invalid numbers on, so that the server rejects them. */
function toNumberIfValid(text: string): number {
  return text === "unlimited" || !Number.isFinite(Number(text)) ? (text as unknown as number) : Number(text);
}

// biome-ignore format: one line per kind
const fields = [
  "name", "description", "prompt", "model", "tools", "sources", "handoffs",
  "policy", "settings",
] as const;
export type AgentField = (typeof fields)[number];

/** Validation problems by field; general problems are under `""`. */
export type FieldProblems = {
  readonly [Field in AgentField | `${"policy" | "settings"}.${string}` | ""]?: string;
};

/** Splits a validation message into problems. Each sentence starts with its field. */
export function parseFieldProblems(message: string): FieldProblems {
  const text = message
    .replace(/^The agent.*? is not valid: /s, "")
    .replace(/^The body cannot be used at data\./, "");
  const sentences = text.split(new RegExp(`(?<=[.?]) (?=(?:${fields.join("|")})\\b)`));
  const problems: { [field: string]: string } = {};
  for (const sentence of sentences) {
    const inGroup = /^(?:policy|settings)\.\w+/.exec(sentence)?.[0];
    const field = inGroup ?? fields.find((name) => new RegExp(`^${name}\\b`).test(sentence)) ?? "";
    const problem = sentence.replace(new RegExp(`^${field}(?:\\[\\d+\\])?: |^(?:policy|settings)\\.`), "");
    problems[field] = problems[field] === undefined ? problem : `${problems[field]} ${problem}`;
  }
  return problems;
}
