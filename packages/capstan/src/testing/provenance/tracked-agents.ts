import { AgentError } from "../../base/errors.ts";
import { agentTool } from "../../features/nested/agent-tool.ts";
import { type Agent, type AgentDefinition, defineAgent } from "../../kernel/agent.ts";
import type { Chunk, Model, ModelRequest } from "../../kernel/model.ts";
import type { PolicyOverrides } from "../../kernel/policy.ts";
import { defineTool, type Tool } from "../../kernel/tool.ts";
import { type PlannedCall, type PlannedRun, type PlannedTurn, plannedTools } from "./conversation-plan.ts";
import {
  abandonNested,
  addDescription,
  addResult,
  type Caller,
  type Conversation,
  cutNested,
  endNested,
  findMarks,
  openConversation,
  readText,
  recordText,
  type Tracker,
} from "./source-tracker.ts";

type Step = PlannedTurn | "answer" | "fail" | NonNullable<PlannedCall["cancelled"]>;
type Role = "main" | "helper" | "deep";
/** A conversation, what its models do next, and the call that a nested run answers. */
type Talk = Caller & { readonly steps: Step[] };
type ModelCall = { readonly id?: string; readonly name: string; readonly input: object };

export type CastOptions = {
  readonly plan: PlannedRun;
  readonly tracker: Tracker;
  readonly active: Conversation;
  /** Calls that wait for execution, by the name of the tool. They are executed one after another. */
  readonly calls: Map<string, Caller[]>;
  readonly cached: string | undefined;
  cancel(): void;
};

/** Takes the next call of a tool in the current conversation: a nested run interrupts its caller's conversation. */
export function takeCaller({ calls, tracker }: Pick<CastOptions, "calls" | "tracker">, name: string): Caller {
  const waiting = calls.get(name) ?? [];
  const caller = waiting.find(({ conversation }) => conversation === tracker.current);
  if (!caller) throw new Error(`Nobody has called ${name}.`);
  calls.set(
    name,
    waiting.filter((other) => other !== caller),
  );
  return caller;
}

/** Creates the agents of a run: the main one, one that it can hand off to, and a sub-agent with its own sub-agent. */
export function createCast(options: CastOptions): { readonly agent: Agent; getCached(): string | undefined } {
  const { plan, tracker } = options;
  const script = createScript(options);
  const { contextBudget, historyLimit, memory, mode } = plan;
  const policy: PolicyOverrides = {
    ...({ maxTurns: 100, toolExecution: "sequential", gate: "off" } as const),
    ...{ retry: { maxAttempts: 1 }, repetition: { nudgeAt: 1000, stopAt: 1000 } },
    ...{ handoff: { mode }, contextBudget, historyLimit },
  };
  const tools = createTrackedTools(options, script.setCached);
  const foreignTool = plan.foreign === "nobody" ? undefined : createForeignTool(addDescription(tracker));
  function define(role: Role, name: string, more: Partial<AgentDefinition> & { tools: readonly Tool[] }) {
    const isDescribed = foreignTool && plan.foreign === role;
    return defineAgent({
      ...{ name, model: createModel(script, options, { role, isSummarizer: false }), policy, ...more },
      models: { summary: createModel(script, options, { role, isSummarizer: true }) },
      tools: [...tools, confirm, ...more.tools, ...(isDescribed ? [foreignTool] : [])],
    });
  }
  const deep = agentTool(define("deep", "deep", { tools: [] }));
  const helper = agentTool(define("helper", "helper", { tools: [deep] }));
  const handoffs = [define("main", "second", { tools: [helper] })];
  const agent = define("main", "main", { tools: [helper], handoffs, policy: { ...policy, memory } });
  return { agent, getCached: script.getCached };
}

/** Decides what each model says and calls, and tells the tracker who reads what. */
type Script = {
  findTalk(role: Role, request: ModelRequest): Talk;
  toCall(call: PlannedCall, talk: Talk): ModelCall;
  addHandles(request: ModelRequest): void;
  setCached(text: string): void;
  getCached(): string | undefined;
};

/** A nested run that a model has asked for. Its conversation opens when its own model is called. */
type Prompt = Omit<Talk, "conversation"> & {
  readonly role: Role;
  readonly caller: Conversation;
  talk?: Talk;
};

function createScript({ plan, tracker, active, calls, cached: reusable }: CastOptions): Script {
  let cached = reusable;
  const steps: Step[] = [...plan.turns];
  if (plan.fails) steps.splice(Math.min(1, steps.length), 0, "fail");
  const prompts = new Map<string, Prompt>();
  const handles = new Set<string>();
  return {
    setCached(text) {
      cached = text;
    },
    getCached: () => cached,
    addHandles(request) {
      for (const [handle] of JSON.stringify(request).matchAll(/blob_\d+/g)) handles.add(handle);
    },
    findTalk(role, { history }) {
      if (role === "main") return { conversation: active, steps, callId: "" };
      // The conversation of a nested run begins with its prompt.
      const marks = findMarks(JSON.stringify(history));
      const prompt = prompts.get(marks.find((mark) => prompts.get(mark)?.role === role) ?? "");
      if (!prompt) throw new Error("A nested run has no prompt.");
      prompt.talk ??= { ...prompt, conversation: openConversation(prompt.caller) };
      return prompt.talk;
    },
    toCall({ tool, handle = 0, turns = [], cancelled }, talk) {
      const { conversation } = talk;
      if (tool === "helper" || tool === "deep") {
        const prompt = recordText(tracker, conversation);
        const [mark = ""] = findMarks(prompt);
        const id = `call_${mark}`;
        const promptSteps: Step[] = cancelled ? [...turns, cancelled] : [...turns];
        prompts.set(mark, { role: tool, caller: conversation, steps: promptSteps, callId: id });
        return { id, name: tool, input: { prompt } };
      }
      if (tool === "handoff") {
        talk.steps.unshift(...turns, "answer");
        return { name: tool, input: { agent: "second" } };
      }
      if (tool === "cached") {
        // The first call executes the tool, and the others get its result.
        if (cached !== undefined) readText(tracker, conversation, cached);
        else calls.set(tool, [{ conversation, callId: "" }]);
        return { name: tool, input: {} };
      }
      const by = recordText(tracker, conversation);
      const id = `call_${findMarks(by)[0]}`;
      calls.set(tool, [...(calls.get(tool) ?? []), { conversation, callId: id }]);
      if (tool !== "read_result") return { id, name: tool, input: { by } };
      return { id, name: tool, input: { handle: [...handles][handle] ?? `blob_${handle + 1}`, from: 0 } };
    },
  };
}

function createModel(
  script: Script,
  { tracker, cancel }: CastOptions,
  { role, isSummarizer }: { readonly role: Role; readonly isSummarizer: boolean },
): Model {
  return {
    id: "tracked",
    async *stream(request, { signal }) {
      const talk = script.findTalk(role, request);
      const { conversation, steps } = talk;
      const step = isSummarizer ? "summary" : (steps.shift() ?? "answer");
      if (step === "fail") throw new AgentError("model_failed", "Planned.", { retryable: false });
      if (step === "calling") {
        cutNested(tracker, talk);
        cancel();
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return;
      }
      // A model that writes nothing passes on nothing of what it has read.
      readText(tracker, conversation, JSON.stringify(request));
      script.addHandles(request);
      const text = recordText(tracker, conversation);
      if (step === "answer") endNested(tracker, conversation);
      if (step === "waiting") abandonNested(tracker, conversation);
      if (step === "answer" || step === "summary") yield toModelChunks(text, []);
      else if (step === "waiting") yield toModelChunks(text, [{ name: "confirm", input: {} }]);
      else
        yield toModelChunks(
          text,
          step.map((call) => script.toCall(call, talk)),
        );
    },
  };
}

function toModelChunks(text: string, calls: readonly ModelCall[]): Chunk[] {
  return [
    { type: "text", text: `${text} Words.` },
    ...calls.flatMap(({ id, name, input }, index): Chunk[] => [
      { type: "call_start", index, name, ...(id !== undefined && { id }) },
      { type: "call_delta", index, text: JSON.stringify(input) },
    ]),
    { type: "finish", reason: calls.length > 0 ? "tool_calls" : "end" },
  ];
}

const anything = { type: "object", properties: {} } as const;

function createForeignTool(description: string): Tool {
  return defineTool({
    ...{ name: "server_time", description, input: anything, effects: "none", reads: [], foreign: "server" },
    execute: () => "noon",
  });
}

/** The user never allows it. */
const confirm: Tool = defineTool({
  ...{ name: "confirm", description: "Asks the user.", input: anything, reads: [], needsApproval: true },
  execute: () => "Confirmed.",
});

function createTrackedTools(options: CastOptions, setCached: (text: string) => void): Tool[] {
  return Object.entries(plannedTools).map(([name, { reads, own = [], size = 10, limit, special }]) =>
    defineTool({
      ...{ name, description: name, input: anything, effects: "none", reads },
      ...(special === "cached" && { cacheMs: 1e9 }),
      maxResultSize: limit ?? "unlimited",
      execute(input: { readonly by?: string }) {
        const { conversation } = takeCaller(options, name);
        const text = addResult(options.tracker, conversation, [...reads, ...own]);
        if (special === "cached") setCached(text);
        if (special === "fails") throw new Error(text);
        // It repeats what the model wrote, as a tool may.
        const content = `${text} ${input.by ?? ""} ${"x".repeat(size)}`;
        const contexts = [{ id: text, content: text, source: { title: "Page" } }];
        return { content, ...(own.length > 0 && { reads: own }), ...(special === "cites" && { contexts }) };
      },
    }),
  );
}
