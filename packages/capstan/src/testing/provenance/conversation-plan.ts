import { type Arbitrary, array, boolean, constant, constantFrom, nat, oneof, record } from "fast-check";
import type { HandoffPolicy, Policy } from "../../kernel/policy.ts";
import type { Reads } from "../../kernel/tool.ts";

/** The tools of a random conversation: their labels, and what is special about them. */
export const plannedTools: {
  readonly [name: string]: {
    readonly reads: readonly Reads[];
    /** Labels that only the results have. */
    readonly own?: readonly Reads[];
    readonly size?: number;
    /** Characters that the model receives. */
    readonly limit?: number;
    readonly special?: "fails" | "cites" | "cached";
  };
} = {
  web: { reads: ["untrusted"] },
  notes: { reads: ["private"] },
  mail: { reads: ["untrusted", "private"] },
  handbook: { reads: ["public"] },
  upload: { reads: ["public"], own: ["untrusted"] },
  broken: { reads: ["untrusted"], special: "fails" },
  search: { reads: ["untrusted"], special: "cites" },
  cached: { reads: ["untrusted"], special: "cached" },
  book: { reads: ["public"], size: 800, limit: 200 },
  archive: { reads: ["private"], size: 800, limit: 200 },
  dump: { reads: ["untrusted"], size: 800, limit: 200 },
  long: { reads: ["private"], size: 1500 },
};

export type PlannedCall = {
  readonly tool: string;
  /** Which of the known handles `read_result` gets. */
  readonly handle?: number;
  /** The turns of the agent that is called or takes over. */
  readonly turns?: readonly PlannedTurn[];
  /** The user cancels the run before the sub-agent has answered: during a model call, or while a tool waits. */
  readonly cancelled?: "calling" | "waiting" | undefined;
};
export type PlannedTurn = readonly PlannedCall[];

export type PlannedRun = {
  readonly type: "run";
  readonly memory: Policy["memory"];
  /** With the memory of a client: it sends back the history that it got. */
  readonly resends: boolean;
  readonly hasContext: boolean;
  /** The agent with a tool that a third party describes. */
  readonly foreign: "nobody" | "main" | "helper";
  readonly contextBudget: Policy["contextBudget"];
  readonly historyLimit: Policy["historyLimit"];
  readonly mode: HandoffPolicy["mode"];
  readonly isSteered: boolean;
  /** The model fails once, and the run is retried. */
  readonly fails: boolean;
  readonly turns: readonly PlannedTurn[];
};

/** Runs of one session, forks of it at the end of an earlier run, and imports of it into a new session. */
export type ConversationPlan = readonly (
  | PlannedRun
  | { readonly type: "fork"; readonly run: number }
  | { readonly type: "import" }
)[];

// A nested run does not share the cache of its session.
const names = Object.keys(plannedTools);
const simpleCall: Arbitrary<PlannedCall> = oneof(
  { weight: 4, arbitrary: record({ tool: constantFrom(...names.filter((name) => name !== "cached")) }) },
  { weight: 1, arbitrary: record({ tool: constant("read_result"), handle: nat(4) }) },
);
const simpleTurns = array(array(simpleCall, { minLength: 1, maxLength: 2 }), { maxLength: 2 });
const deepTurns = array(
  array(oneof(simpleCall, record({ tool: constant("deep"), turns: simpleTurns })), {
    minLength: 1,
    maxLength: 2,
  }),
  { maxLength: 2 },
);
const call = oneof(
  { weight: 8, arbitrary: simpleCall },
  { weight: 1, arbitrary: record({ tool: constant("cached") }) },
  {
    weight: 2,
    arbitrary: record({
      ...{ tool: constant("helper"), turns: deepTurns },
      cancelled: constantFrom(undefined, undefined, "calling" as const, "waiting" as const),
    }),
  },
);
const turn: Arbitrary<PlannedTurn> = oneof(
  { weight: 5, arbitrary: array(call, { minLength: 1, maxLength: 3 }) },
  { weight: 1, arbitrary: record({ tool: constant("handoff"), turns: simpleTurns }).map((only) => [only]) },
);

const plannedRun: Arbitrary<PlannedRun> = record({
  type: constant("run"),
  memory: constantFrom("session", "session", "run", "client"),
  resends: boolean(),
  hasContext: constantFrom(false, false, true),
  foreign: constantFrom("nobody", "nobody", "main", "helper"),
  contextBudget: constantFrom<Policy["contextBudget"]>("unlimited", 400, 150),
  historyLimit: constantFrom<Policy["historyLimit"]>("unlimited", "unlimited", 2),
  mode: constantFrom("return", "transfer"),
  isSteered: boolean(),
  fails: constantFrom(false, false, true),
  turns: array(turn, { maxLength: 4 }),
});

export const arbitraryConversation: Arbitrary<ConversationPlan> = array(
  oneof(
    { weight: 6, arbitrary: plannedRun },
    { weight: 1, arbitrary: record({ type: constant("fork" as const), run: nat(3) }) },
    { weight: 1, arbitrary: record({ type: constant("import" as const) }) },
  ),
  { minLength: 1, maxLength: 5 },
);
