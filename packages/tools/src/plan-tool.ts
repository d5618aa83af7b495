import { defineTool, type Event, type Hooks, isFact, type Outcome, type Tool, type UiHint } from "capstan";

/** One thing to do. */
export type PlanItem = { readonly text: string; readonly status: "open" | "doing" | "done" };

const toolName = "plan";
const statuses = ["open", "doing", "done"] as const;
const columns = [
  { key: "text", label: "To do" },
  { key: "status", label: "State" },
];

/** `plan`: a list of things to do that the model keeps and people see. Each call gives the whole list anew. */
export function planTool(): Tool {
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
        content: stateOf(items),
        ui: { kind: "table", props: { title: "Plan", columns, rows: items } },
      };
    },
  });
}

/** What to put into an agent's instructions so that it plans; nothing does so by itself. */
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
 * Hooks for one run that keep the model to its plan: the result of every other tool is followed by what is still open.
 * For a run that is resumed, or a session that goes on, give its facts, and the plan in them is taken up.
 */
export function trackPlan(facts: Iterable<Event> = []): Required<Pick<Hooks, "onAfterTool">> {
  let plan: readonly PlanItem[] = [];
  for (const fact of facts) if (isFact(fact) && fact.type === "tool_call_result") plan = planIn(fact) ?? plan;
  return {
    onAfterTool({ name }, outcome) {
      const { status, ui } = outcome;
      const written = planIn({ name, status, ui });
      if (written) plan = written;
      return written || isFinished(plan) ? undefined : withNote(outcome, stateOf(plan));
    },
  };
}

type Named = { readonly name: string; readonly status: string; readonly ui?: UiHint | undefined };

/** The plan that a result holds. Only the tool itself writes it: any tool can give a hint that looks like it. */
function planIn({ name, status, ui }: Named): readonly PlanItem[] | undefined {
  if (name !== toolName || status !== "ok" || ui?.kind !== "table" || !ui.props) return undefined;
  const items: unknown = Reflect.get(Object(ui.props), "rows");
  return Array.isArray(items) && items.every(isItem) ? items : undefined;
}

function isItem(value: unknown): value is PlanItem {
  if (typeof value !== "object" || value === null) return false;
  const { text, status } = value as { readonly text?: unknown; readonly status?: unknown };
  return typeof text === "string" && statuses.some((known) => known === status);
}

function isFinished(plan: readonly PlanItem[]): boolean {
  return plan.every(({ status }) => status === "done");
}

function stateOf(plan: readonly PlanItem[]): string {
  const done = plan.filter(({ status }) => status === "done").length;
  const rest = plan.filter(({ status }) => status !== "done");
  const lines = rest.map(({ text, status }) => `- ${status}: ${text.replace(/\s+/g, " ")}`);
  return [`Plan: ${done} of ${plan.length} done.`, ...lines].join("\n");
}

/** Data stays data: where the content is its JSON, the note goes in as the message beside it. */
function withNote(outcome: Outcome, note: string): Outcome {
  const { content, data } = outcome;
  if (typeof content !== "string") return { ...outcome, content: [...content, { type: "text", text: note }] };
  if (data !== undefined) {
    const written = jsonWith(content, data, note);
    if (written !== undefined) return { ...outcome, content: written };
  }
  return { ...outcome, content: content === "" ? note : `${content}\n\n${note}` };
}

function jsonWith(content: string, data: unknown, note: string): string | undefined {
  if (content === JSON.stringify(data)) return JSON.stringify({ message: note, data });
  const written = content.startsWith("{") ? parsed(content) : undefined;
  if (typeof written !== "object" || written === null || !Object.hasOwn(written, "data")) return undefined;
  const message: unknown = Reflect.get(written, "message");
  return JSON.stringify({
    ...written,
    message: typeof message === "string" ? `${message}\n\n${note}` : note,
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // words that begin with a bracket
  }
}
