import { type Clock, defineTool, type Model, type Part, type Reads, type Tool, type UiHint } from "capstan";

/** Time that passes only when a model or a tool says that it has taken some. */
export type DemoClock = Clock & { pass(ms: number): void; set(at: number): void };

/** A turn of a demo model, and how long it takes. */
export type DemoTurn = {
  readonly thinks?: string;
  readonly says?: string;
  readonly calls?: readonly { readonly name: string; readonly input: object }[];
  readonly ms: number;
};

/** What a demo model answers, from what was asked and how many results are there since. */
export type DemoScript = (asked: string, results: number) => DemoTurn;

/** A clock for scripted sessions: their times are the same whenever they are made. */
export function demoClock(start: number): DemoClock {
  let time = start;
  return {
    now: () => time,
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

const plain = (content: string | readonly Part[]) =>
  typeof content === "string"
    ? content
    : content.map((part) => (part.type === "text" ? part.text : "")).join(" ");

type DemoModel = { readonly id: string; readonly clock: DemoClock; readonly script: DemoScript };

/** A model that says what its script says; its time passes on the clock. */
export function demoModel({ id, clock, script }: DemoModel): Model {
  return {
    id,
    async *stream({ history }) {
      const from = history.findLastIndex((entry) => entry.type === "user");
      const asked = history[from];
      const results = history.slice(from).filter((entry) => entry.type === "result").length;
      const turn = script(asked?.type === "user" ? plain(asked.content) : "", results);
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
        { type: "finish", reason: calls.length > 0 ? "tool_calls" : "stop" },
      ];
    },
  };
}

type Answer = {
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
  readonly answer: Answer;
  readonly effects?: "none" | "state";
  readonly needsApproval?: string;
  readonly reads?: readonly Reads[];
};

/** A tool that always answers the same, in a time of its own. */
export function demoTool(clock: DemoClock, tool: DemoTool): Tool {
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
