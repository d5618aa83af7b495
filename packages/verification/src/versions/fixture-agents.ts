import {
  type Agent,
  AgentError,
  agentTool,
  defineAgent,
  defineTool,
  type Entry,
  type Tool,
  toPlainText,
} from "capstan";
import { type ScriptedCall, type ScriptedStep, scriptedModel } from "capstan/testing";

/** The first message of a recorded run: the calls of each turn, or a failure of the model. Then the agent answers. */
export type Plan = readonly (
  | readonly ScriptedCall[]
  | ("crash" | "rate_limit" | "wrong_key" | "fail_once" | "long_answer" | "web_search")
)[];

/** `record`: failures happen as planned. `resume`: the process survives and the provider answers. */
export type FixtureMode = "record" | "resume";

/** The agents of the recorded runs. Their answers depend on the history alone, so any version can resume them. */
export function createFixtureAgents(mode: FixtureMode): readonly [Agent, Agent] {
  let failures = 0;
  const hasFailed = () => failures++ > 0;
  const model = scriptedModel(({ history }) => answerPlan(history, mode, hasFailed));
  const tools = createTools(mode);
  const helper = defineAgent({ name: "helper", model: createSender("helper"), tools });
  const expert = defineAgent({ name: "expert", model: createSender("expert"), tools });
  const guide = defineAgent({
    name: "guide",
    model,
    tools: [
      ...tools,
      agentTool(helper),
      agentTool(defineAgent({ name: "researcher", model: createSender("researcher"), tools }), {
        background: true,
      }),
      agentTool(defineAgent({ name: "reader", model: createReader(), tools }), { background: true }),
    ],
    handoffs: [expert],
    policy: { gate: "off" },
  });
  return [guide, expert];
}

function answerPlan(history: readonly Entry[], mode: FixtureMode, hasFailed: () => boolean): ScriptedStep {
  const start = history.findLastIndex((entry) => entry.type === "user" && getUserText(entry).startsWith("["));
  if (start === -1) return { text: "Noted." }; // the summary of a turn or of the history
  const plan: Plan = JSON.parse(getUserText(history[start]));
  const turn = history.slice(start).filter(({ type }) => type === "assistant").length;
  const last = history.at(-1);
  // A compacted history has lost turns, so the last call of a plan ends it as well.
  const isOver = last?.type === "result" && last.name === "send";
  const step = isOver ? undefined : plan[turn];
  if (step === undefined) return { text: "All done.", reasoning: "Nothing is left." };
  if (typeof step !== "string") return { calls: step };
  if (step === "long_answer") return { text: "The first half,", finish: "length" };
  if (step === "web_search") return { ...webSearch, text: "All done." };
  if (mode === "resume") return { text: "All done." };
  if (step === "fail_once") return hasFailed() ? { text: "All done." } : { error: "model_auth" };
  if (step === "crash") process.kill(process.pid, "SIGKILL");
  if (step === "wrong_key") return { error: "model_auth" };
  const retryAfterMs = 3_600_000;
  return { error: new AgentError("model_rate_limited", "Come back in an hour.", { retryAfterMs }) };
}

const webSearch: ScriptedStep = {
  hosted: [
    {
      id: "search_1",
      kind: "webSearch",
      input: { query: "tides" },
      outcome: { isError: false, text: "High at 7." },
    },
  ],
  citations: [{ id: "tides", title: "Tides", url: "https://example.org/tides" }],
};

/** A model that looks something up once and reports it. */
function createReader() {
  return scriptedModel(
    ({ history }) =>
      history.at(-1)?.type === "result"
        ? { text: "Read." }
        : { calls: [{ name: "look", input: { to: "Ann" } }] },
    { id: "reader" },
  );
}

/** A model that calls `send` once and reports the result. */
function createSender(id: string) {
  return scriptedModel(
    ({ history }) => {
      const last = history.at(-1);
      if (last?.type === "result" && last.name === "send") return { text: `Sent: ${last.status}` };
      return { calls: [{ name: "send", input: { to: "Ann" } }] };
    },
    { id },
  );
}

function getUserText(entry: Entry | undefined): string {
  return entry?.type === "user" ? toPlainText(entry.content) : "";
}

function createTools(mode: FixtureMode): Tool[] {
  const input = {
    type: "object",
    properties: { to: { type: "string" }, version: { type: "number" }, crash: { type: "boolean" } },
  } as const;
  const crash = ({ crash: isPlanned }: { crash?: boolean }) => {
    if (isPlanned && mode === "record") process.kill(process.pid, "SIGKILL");
  };
  return [
    defineTool({
      name: "look",
      description: "Looks something up.",
      input,
      effects: "none",
      execute: (options) => {
        crash(options);
        const source = { title: "Notes", url: "https://example.org/notes" };
        const contexts = [{ id: "notes", content: `Notes, version ${options.version ?? 1}`, source }];
        return { content: "A long note. ".repeat(10), data: { found: 1 }, message: "Found a note", contexts };
      },
      maxResultSize: 60,
    }),
    defineTool({
      name: "pay",
      description: "Pays.",
      input,
      effects: "send",
      execute: (options) => {
        crash(options);
        return { content: "Paid.", affected: { paid: 1 } };
      },
    }),
    defineTool({
      name: "send",
      description: "Sends a card.",
      input,
      effects: "send",
      needsApproval: "It leaves the house.",
      execute: () => "Sent.",
    }),
    defineTool({
      name: "ask",
      description: "Asks the user.",
      input,
      effects: "state",
      execute: (_, { answers }) => {
        const [answer] = answers;
        if (!answer)
          return { ask: { message: "Which color?", schema: { type: "string" }, state: { asked: 1 } } };
        return answer.approved ? `The color is ${JSON.stringify(answer.value)}.` : "No color.";
      },
    }),
    defineTool({ name: "measure", description: "The client measures.", input }),
    defineTool({
      name: "tides",
      description: "The tides of a harbor.",
      input,
      effects: "none",
      defer: true,
      execute: () => "High at 7.",
    }),
  ];
}
