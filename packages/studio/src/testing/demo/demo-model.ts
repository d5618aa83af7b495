import { type Clock, defineTool, type Model, type Part, type Reads, type Tool, type UiHint } from "capstan";

/** A clock that only advances when a model or tool calls `pass`. */
export type DemoClock = Clock & { pass(ms: number): void; set(at: number): void };

/** A scripted turn and its duration. */
export type DemoTurn = {
  readonly thinks?: string;
  readonly says?: string;
  readonly calls?: readonly { readonly name: string; readonly input: object }[];
  readonly ms: number;
};

/** Returns the next turn from the question and the number of results since. */
export type DemoScript = (lastInput: string, results: number) => DemoTurn;

/** A deterministic clock for scripted sessions. */
export function createDemoClock(start: number): DemoClock {
  let time = start;
  return {
    now: () => time,
    monotonic: () => time,
    after(ms, fire) {
      const timer = setTimeout(fire, ms);
      timer.unref();
      return () => clearTimeout(timer);
    },
    pass(ms) {
      time += ms;
    },
    set(at) {
      time = at;
    },
  };
}

const toPlainWords = (content: string | readonly Part[]) =>
  typeof content === "string"
    ? content
    : content.map((part) => (part.type === "text" ? part.text : "")).join(" ");

type DemoModelOptions = { readonly id: string; readonly clock: DemoClock; readonly script: DemoScript };

/** A model that follows a script and advances the clock. */
export function createDemoModel({ id, clock, script }: DemoModelOptions): Model {
  return {
    id,
    async *stream({ history }) {
      const from = history.findLastIndex((entry) => entry.type === "user");
      const lastInput = history[from];
      const results = history.slice(from).filter((entry) => entry.type === "result").length;
      const turn = script(lastInput?.type === "user" ? toPlainWords(lastInput.content) : "", results);
      const { thinks, says, calls = [], ms } = turn;
      clock.pass(ms);
      if (thinks !== undefined) yield [{ type: "reasoning", text: thinks }];
      if (says !== undefined) yield [{ type: "text", text: says }];
      for (const [index, { name, input }] of calls.entries()) {
        yield [{ type: "call_start", index, name }];
        yield [{ type: "call_delta", index, text: JSON.stringify(input) }];
      }
      const inputTokens = 1480 + history.length * 310;
      const outputTokens = 60 + Math.round(((says?.length ?? 0) + (thinks?.length ?? 0)) / 4);
      const cost = inputTokens * 1e-6 + outputTokens * 5e-6;
      yield [
        {
          type: "usage",
          usage: { inputTokens, outputTokens, cachedTokens: history.length > 1 ? 1280 : 0, cost },
        },
        { type: "finish", reason: calls.length > 0 ? "tool_calls" : "end" },
      ];
    },
  };
}

type DemoAnswer = {
  readonly content: string;
  readonly message?: string;
  readonly data?: object;
  readonly ui?: UiHint;
  readonly affected?: { readonly nodes: readonly string[] };
  readonly contexts?: readonly {
    readonly id: string;
    readonly content: string;
    readonly source: { readonly title: string; readonly url?: string };
  }[];
};

export type DemoTool = {
  readonly name: string;
  readonly description: string;
  readonly ms: number;
  readonly answer: DemoAnswer;
  readonly effects?: "none" | "state";
  readonly needsApproval?: string;
  readonly reads?: readonly Reads[];
};

/** A tool with a fixed answer and duration. */
export function createDemoTool(clock: DemoClock, tool: DemoTool): Tool {
  const { name, description, ms, answer, effects = "none", needsApproval, reads = ["public"] } = tool;
  return defineTool({
    name,
    description,
    input: { type: "object" },
    effects,
    reads,
    ...(needsApproval !== undefined && { needsApproval }),
    execute() {
      clock.pass(ms);
      return answer as never;
    },
  });
}
