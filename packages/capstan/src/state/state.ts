import type { ErrorData } from "../errors.ts";
import type { CallCheck, Fact, ModelChain, RunStatus, StructuredOutput, ToolOffer } from "../event.ts";
import type {
  AssistantEntry,
  CallPart,
  Citation,
  Entry,
  NumberedFragment,
  ResultEntry,
  UserEntry,
} from "../history.ts";
import type { Json } from "../json.ts";
import { createLabels, type Labels } from "../labels.ts";
import type { Finish, Usage } from "../model.ts";
import type { Policy } from "../policy.ts";
import type { Question, Reply } from "../tool.ts";
import { type ContextSize, createContextSize } from "./context-size.ts";

/**
 * Everything the runtime knows, folded from the facts of a session and from nothing else. The fold updates it in
 * place, because a copy of the history per fact would make a run quadratic: whoever wants to look at an earlier
 * moment folds a prefix.
 */
export type State = {
  readonly sessionId: string;
  /** The position of the last fact folded in. */
  seq: number;
  /** Whole turns only: an answer joins it when each of its calls has a result, so it is valid at every instant. */
  history: Entry[];
  context: ContextSize;
  readonly callIds: Set<string>;
  /** What the run can cite: by id, in the order found. */
  fragments: Map<string, NumberedFragment>;
  /** The number of every fragment that the session ever found, by id. It is never set aside, so that no number is given twice. */
  readonly numbers: Map<string, number>;
  /** What the session remembers while a run does not look at it. */
  sessionMemory: Pick<State, "history" | "fragments" | "labels"> | undefined;
  /** What of the history is not to be trusted, and what is not for everybody. */
  labels: Labels;
  /** Whether results were cut, so that there is something to read with a handle. */
  hasHandles: boolean;
  /** Results that may be used again, by tool and input. */
  readonly cache: Map<string, CachedResult>;
  /** The newest run of the session. */
  run: RunState | undefined;
};

export type CachedResult = Extract<Fact, { type: "tool_call_result" }>;

export type RunState = {
  readonly id: string;
  /** The one in charge: of the run, or the specialist it was handed over to. */
  agent: string;
  /** As it was when the run began; a specialist that is stricter than that has it stricter. */
  policy: Policy;
  readonly timeZone: string;
  /** In place of those of the agent that the run began with. */
  instructions: string | undefined;
  /** The agents that wait for an answer: the last one for that of the agent in charge. */
  handoffs: HandoffFrame[];
  /** The last handoff, and how often the same two have passed the conversation to and fro. */
  lastHandoff:
    | { readonly from: string; readonly to: string; readonly startedCalls: number; count: number }
    | undefined;
  /** Of a handoff that was not allowed, under a policy that then ends the run. */
  denied: string | undefined;
  /** The calls that handed over or back. */
  readonly handoffCalls: Set<string>;
  /** What the person asked: as it is in the history, and as text. */
  readonly question: UserEntry | undefined;
  readonly query: string;
  turn: number;
  currentTurn: TurnState | undefined;
  usage: Usage;
  readonly startedAt: number;
  lastAt: number;
  waitedMs: number;
  waits: number;
  /** How often another process had to go on, since the last message or result. */
  recoveries: number;
  /** Messages that arrived while the run was on; they join the history at the next turn. */
  steering: UserEntry[];
  /** The last decision of a person on each call of this run. */
  readonly approvals: Map<string, Reply>;
  /** The runs of agents that are tools, by the call they answer, until its turn is over. */
  readonly nested: Map<string, State>;
  /** Of a nested run: the state it is nested in, and the call it answers. */
  parent: { readonly state: State; readonly callId: string } | undefined;
  waiting: boolean;
  /** When it goes on by itself. */
  wakeAt: number | undefined;
  cancelReason: string | undefined;
  limit: { readonly code: string; readonly message: string } | undefined;
  fallback: Fallback | undefined;
  /** Budgets that have been warned about. */
  readonly warned: Set<string>;
  /** By tool and input: the last result, and how often in a row it was the same. */
  readonly repeats: Map<string, RepeatedCall>;
  /** Calls to tools that do not exist, in a row. */
  unknownTools: number;
  /** Calls that were begun: what the budget counts. */
  startedCalls: number;
  readonly toolCalls: ToolCallRecord[];
  readonly affected: Json[];
  readonly reasoning: { readonly turn: number; readonly text: string }[];
  lastText: string;
  /** What that text cites. */
  citations: readonly Citation[];
  /** Answers that did not have the form they must have. */
  invalidOutputs: number;
  readonly compactions: Compactions;
  done:
    | {
        readonly status: RunStatus;
        readonly text: string;
        readonly grounded: boolean;
        readonly output?: Json;
        readonly error?: ErrorData;
      }
    | undefined;
};

/** An agent that handed over and waits, as it was then. */
export type HandoffFrame = {
  readonly agent: string;
  /** The call that handed over; its result is the answer. */
  readonly call: Call;
  readonly turnState: TurnState;
  /** How many entries the history had before that turn. */
  base: number;
  readonly context: ContextSize;
  readonly compactions: number;
  readonly instructions: string | undefined;
  readonly policy: Policy;
  readonly invalidOutputs: number;
  /** What the specialist gives back: it is the result of the call. */
  returned: { readonly text: string; readonly data?: Json; readonly error?: ErrorData } | undefined;
};

/** What was done to make room in the history. */
export type Compactions = {
  count: number;
  /** A summary that is begun, and which model of the chain is to write it. */
  open: { readonly number: number; readonly until: number; readonly candidate: number } | undefined;
  /** Where results were last shortened, and where the history was last summarised. */
  shortenedAt: string | undefined;
  summarisedAt: string | undefined;
};

/** One turn: what the model was offered, what it said, and what became of its calls. */
export type TurnState = {
  readonly turn: number;
  readonly tools: ToolOffer;
  readonly chain: ModelChain;
  readonly notes: readonly string[];
  message: AssistantEntry | undefined;
  finish: Finish | "aborted" | undefined;
  output: StructuredOutput | undefined;
  /** By id, in the order the model made them. */
  readonly calls: Map<string, Call>;
  unsettled: number;
  failure: ModelFailure | undefined;
  /** How often the request was too long for the model. */
  overflows: number;
  usage: Usage;
  /** The call most often repeated with the same result: how often by now, and how often before this turn. */
  repeated: { readonly name: string; readonly count: number; readonly before: number } | undefined;
  ended: boolean;
  isSummarised: boolean;
};

export type ModelFailure = {
  readonly candidate: number;
  readonly hadMoreRoom: boolean;
  readonly error: ErrorData;
  /** When the provider may be asked again. */
  readonly retryAt?: number;
};

export type Call = {
  readonly part: CallPart;
  readonly check: CallCheck | undefined;
  approvalRequested: boolean;
  approval: { readonly approved: boolean; readonly reason?: string } | undefined;
  /** What the tool has asked in the middle of the call. Only the last one may be without a reply. */
  questions: readonly AskedQuestion[];
  /** Begins so far: above that of the last question without a result, the process died, or a client is at work on it. */
  attempt: number;
  result: ResultEntry | undefined;
  record: ToolCallRecord | undefined;
  /** Of a call that has handed over for good, or handed back: who is in charge now. */
  handedTo?: string;
};

export type AskedQuestion = {
  readonly question: Question;
  readonly reason: string;
  readonly digest: string;
  /** The begin that ended with this question. */
  readonly attempt: number;
  reply: Reply | undefined;
};

export type RepeatedCall = {
  readonly content: string;
  readonly count: number;
  readonly turn: number;
  readonly before: number;
};

export type Fallback = { readonly input: Json; readonly attempt: number; result: ToolCallRecord | undefined };

export type ToolCallRecord = {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  readonly result: ResultEntry["content"];
  readonly status: ResultEntry["status"];
  readonly attempts: number;
  readonly ms: number;
};

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0 };

type Mutable<Fields> = { -readonly [Field in keyof Fields]: Fields[Field] };
const optionalCounts = ["cachedTokens", "reasoningTokens", "cost"] as const;

export function addUsage(left: Usage, right: Usage): Usage {
  const sum: Mutable<Usage> = {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
  };
  for (const field of optionalCounts) {
    if (left[field] !== undefined || right[field] !== undefined)
      sum[field] = (left[field] ?? 0) + (right[field] ?? 0);
  }
  if (left.estimated || right.estimated) sum.estimated = true;
  return sum;
}

export function createState(sessionId: string): State {
  return {
    sessionId,
    seq: 0,
    history: [],
    context: createContextSize(),
    callIds: new Set(),
    fragments: new Map(),
    numbers: new Map(),
    sessionMemory: undefined,
    labels: createLabels(),
    hasHandles: false,
    cache: new Map(),
    run: undefined,
  };
}

/** Time at work: what was spent waiting for a person does not count. */
export function computeElapsedMs(run: RunState): number {
  return run.lastAt - run.startedAt - run.waitedMs;
}

/** The run and its ancestors, from the inside out. */
export function* listAncestors(run: RunState): Generator<RunState> {
  for (let next: RunState | undefined = run; next; next = next.parent?.state.run) yield next;
}

/** Adds the time since the last fact to the waited time, if the run waited. */
export function updateWaitedTime(run: RunState, fact: Fact): void {
  // An approval is delivered when no effect is in flight, so the time before it was spent waiting for the user.
  if (run.waiting || fact.type === "approval_resolved") run.waitedMs += fact.at - run.lastAt;
  run.waiting = false;
  run.lastAt = fact.at;
}
