import {
  defineTool,
  type Event,
  type Hooks,
  isFact,
  type Outcome,
  type Tool,
  type ToolCall,
  type UiHint,
} from "capstan";

export type PlanItem = { readonly text: string; readonly status: "open" | "doing" | "done" };

const toolName = "plan";
const statuses = ["open", "doing", "done"] as const;
const columns = [
  { key: "text", label: "To do" },
  { key: "status", label: "State" },
];

/** The `plan` tool: a to-do list that the model maintains and the user sees. Every call replaces the whole list. */
export function planTool(): Tool<ToolCall<"plan", { items: PlanItem[] }>, unknown> {
  return defineTool({
    name: toolName,
    description:
      "Keeps your list of things to do, which people see. Give the whole list every time: when you begin, and whenever an item is begun or done.",
    input: {
      type: "object",
      properties: {
        items: {
          type: "array",
          maxItems: 50,
          items: {
            type: "object",
            properties: {
              text: { type: "string", minLength: 1, maxLength: 500 },
              status: { type: "string", enum: statuses },
            },
            required: ["text", "status"],
            additionalProperties: false,
          },
        },
      },
      required: ["items"],
      additionalProperties: false,
    },
    effects: "ui",
    reads: [],
    execute({ items }) {
      return {
        content: formatProgress(items),
        ui: { kind: "table", props: { title: "Plan", columns, rows: items } },
      };
    },
  });
}

/** Instructions that make an agent plan. Add one of them to the agent's instructions; nothing does so automatically. */
export const planInstructions: { readonly steps: string; readonly checklist: string } = {
  steps: [
    "How to proceed:",
    "1. Work out which information the request needs.",
    "2. Choose the tools that can give it.",
    "3. Look at each result: is it enough? If not, go on with other tools or other words.",
    "4. When it is enough, put the answer together from what you found.",
  ].join("\n"),
  checklist: [
    "How to proceed:",
    "1. Break the request down into a list of sub-tasks, and keep that list with the tool `plan` if you have it.",
    "2. For each sub-task: work out which information it needs, choose the tools that can give it, use them, and judge the results.",
    "3. After every tool call: bring the list up to date, decide whether more is needed, and go on to the next sub-task or to the answer.",
    "4. When nothing is left open, put the answer together from what you found.",
  ].join("\n"),
};

/**
 * Returns hooks for one run that remind the model of its plan: the open items are appended to the result of every other
 * tool. For a resumed run or a continued session, pass its facts to restore the plan.
 */
export function trackPlan(facts: Iterable<Event> = []): Required<Pick<Hooks, "onAfterTool">> {
  let plan: readonly PlanItem[] = [];
  for (const fact of facts)
    if (isFact(fact) && fact.type === "tool_call_result") plan = findPlan(fact) ?? plan;
  return {
    onAfterTool({ name }, outcome) {
      const { status, ui } = outcome;
      const written = findPlan({ name, status, ui });
      if (written) plan = written;
      return written || isFinished(plan) ? undefined : appendNote(outcome, formatProgress(plan));
    },
  };
}

type NamedOutcome = { readonly name: string; readonly status: string; readonly ui?: UiHint | undefined };

/** Checks the tool name, because any tool can return a table hint that looks like a plan. */
function findPlan({ name, status, ui }: NamedOutcome): readonly PlanItem[] | undefined {
  if (name !== toolName || status !== "ok" || ui?.kind !== "table" || !ui.props) return undefined;
  const items: unknown = Reflect.get(Object(ui.props), "rows");
  return Array.isArray(items) && items.every(isPlanItem) ? items : undefined;
}

function isPlanItem(value: unknown): value is PlanItem {
  if (typeof value !== "object" || value === null) return false;
  const { text, status } = value as { readonly text?: unknown; readonly status?: unknown };
  return typeof text === "string" && statuses.some((known) => known === status);
}

function isFinished(plan: readonly PlanItem[]): boolean {
  return plan.every(({ status }) => status === "done");
}

function formatProgress(plan: readonly PlanItem[]): string {
  const done = plan.filter(({ status }) => status === "done").length;
  const remaining = plan.filter(({ status }) => status !== "done");
  const lines = remaining.map(({ text, status }) => `- ${status}: ${text.replace(/\s+/g, " ")}`);
  return [`Plan: ${done} of ${plan.length} done.`, ...lines].join("\n");
}

/** Keeps JSON content valid: the note becomes its `message`. */
function appendNote(outcome: Outcome, note: string): Outcome {
  const { content, data } = outcome;
  if (typeof content !== "string") return { ...outcome, content: [...content, { type: "text", text: note }] };
  if (data !== undefined) {
    const written = addNoteToJson(content, data, note);
    if (written !== undefined) return { ...outcome, content: written };
  }
  return { ...outcome, content: content === "" ? note : `${content}\n\n${note}` };
}

function addNoteToJson(content: string, data: unknown, note: string): string | undefined {
  if (content === JSON.stringify(data)) return JSON.stringify({ message: note, data });
  const written = content.startsWith("{") ? parseContent(content) : undefined;
  if (typeof written !== "object" || written === null || !Object.hasOwn(written, "data")) return undefined;
  const message: unknown = Reflect.get(written, "message");
  return JSON.stringify({
    ...written,
    message: typeof message === "string" ? `${message}\n\n${note}` : note,
  });
}

function parseContent(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // text that happens to start with a brace
  }
}
