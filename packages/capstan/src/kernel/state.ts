import type { ErrorData } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { addUsage, noUsage } from "../base/usage.ts";
import type { DiscoveredTools } from "../features/tool-search/discovered-tools.ts";
import type { CallCheck } from "./call-check.ts";
import { type ContextSize, createContextSize } from "./context-size.ts";
import type { Fact, ModelChain, RunStatus, StructuredOutput, ToolOffer } from "./event.ts";
import type {
  AssistantEntry,
  CallPart,
  Citation,
  Entry,
  GeneratedMedia,
  NumberedFragment,
  ResultEntry,
  UserEntry,
} from "./history.ts";
import type { MessageEnd, Usage } from "./model.ts";
import type { Policy } from "./policy.ts";
import { createLabels, type Labels } from "./provenance.ts";
import type { ModelSettings } from "./settings/settings.ts";
import type { Question, Reads, Reply, ToolCall } from "./tool.ts";

/**
 * The complete state of a session, folded from its facts and nothing else. The fold mutates it, because copying the
 * history for every fact would make a run quadratic; fold a prefix to get an earlier state.
 */
export type State = {
  readonly sessionId: string;
  /** The position of the last fact folded in, and its time. */
  seq: number;
  at: number;
  /** Milliseconds from the first fact to the last, on the monotonic clocks of the processes that ran. Never decreases. */
  elapsedMs: number;
  /** Complete turns only: a message is added once all its calls have results, so the history is always valid. */
  history: Entry[];
  context: ContextSize;
  readonly callIds: Set<string>;
  /** The fragments that the run can cite: by id, in the order found. */
  fragments: Map<string, NumberedFragment>;
  /** The number of every fragment found in the session, by id. Shared by all runs, so that no number is reused. */
  readonly numbers: Map<string, number>;
  /** The session's memory, set aside during a run that does not use it. */
  sessionMemory: Pick<State, "history" | "fragments" | "labels"> | undefined;
  /** Untrusted and private sources in the history. */
  labels: Labels;
  /** Labels of the results that were too large for the model, by the handle with which they can be read. */
  readonly handles: Map<string, readonly Reads[]>;
  /** Deferred tools that a model has found. Shared by all runs, so that the tools of a session only grow. */
  readonly discovered: DiscoveredTools;
  /** Reusable results, by tool and input. */
  readonly cache: Map<string, CachedResult>;
  /** The newest run of the session. */
  run: RunState | undefined;
};

export type CachedResult = Extract<Fact, { type: "tool_call_result" }>;

export type RunState = {
  readonly id: string;
  /** The agent in charge: the run's own, or the target of a handoff. */
  agent: string;
  /** The policy at the start of the run, tightened while a stricter agent is in charge. */
  policy: Policy;
  /** Of the run; they take precedence over its agents'. */
  readonly settings: ModelSettings | undefined;
  readonly timeZone: string;
  /** Replaces the instructions of the agent that started the run. */
  instructions: string | undefined;
  /** Agents that wait for an answer, innermost last. */
  handoffs: HandoffFrame[];
  /** The open handoffs of a run that failed: a retry continues with them. */
  interruptedHandoffs: HandoffFrame[];
  /** The last handoff, and how often the same two agents have handed off to each other in a row. */
  lastHandoff:
    | { readonly from: string; readonly to: string; readonly startedCalls: number; count: number }
    | undefined;
  /** Why a handoff was denied, if the policy ends the run for it. */
  denied: string | undefined;
  /** Ids of the calls that handed off or back. */
  readonly handoffCalls: Set<string>;
  /** The user's question, as an entry and as text. */
  readonly question: UserEntry | undefined;
  readonly query: string;
  turn: number;
  currentTurn: TurnState | undefined;
  usage: Usage;
  /** `State.elapsedMs` at the first and at the last fact of the run. */
  readonly startedMs: number;
  lastMs: number;
  /** How long the run waited for the user. */
  waitedMs: number;
  waits: number;
  /** How often another process took over since the last message or result. */
  recoveries: number;
  /** Whether the process executes only this run, so that a crash counts against it. */
  isAlone: boolean;
  /** How often the process crashed while it executed only this run, since the last message or result. */
  soloCrashes: number;
  /** How often the run failed and was retried. */
  retries: number;
  /** Messages sent during the run; added to the history at the next turn. */
  steering: UserEntry[];
  /** The last decision of the user on each call of this run. */
  readonly approvals: Map<string, Reply & { readonly input?: Json }>;
  /** Nested runs by the call they answer, until its turn is complete. */
  readonly nested: Map<string, State>;
  /** For a nested run: the parent's state, the call this run answers, and the tool that was called. */
  parent: { readonly state: State; readonly callId: string; readonly name?: string | undefined } | undefined;
  /** For a nested run: its call has returned a receipt, and its answer becomes a message to the parent. */
  readonly isBackground: boolean;
  /** For a background run: the last text that its parent has received as progress. */
  reportedText: string;
  /** The background runs that have ended. */
  readonly endedWork: EndedWork[];
  waiting: boolean;
  /** When the run resumes by itself. */
  wakeAt: number | undefined;
  cancelReason: string | undefined;
  limit: { readonly code: string; readonly message: string } | undefined;
  fallback: Fallback | undefined;
  /** Codes of warnings already issued. */
  readonly warned: Set<string>;
  /** The last result by tool and input, and how often in a row it was the same. */
  readonly repeats: Map<string, RepeatedCall>;
  /** Consecutive calls to tools that do not exist. */
  unknownTools: number;
  /** Calls started; counted against the budget. */
  startedCalls: number;
  /** Model calls and nested runs, also of nested runs; counted against the budget. */
  modelCalls: number;
  startedAgents: number;
  readonly toolCalls: ToolCallRecord[];
  /** A tool returned passages that an answer can cite, or none of them matched. */
  hasSearched: boolean;
  readonly affected: Json[];
  readonly reasoning: { readonly turn: number; readonly text: string }[];
  readonly media: GeneratedMedia[];
  lastText: string;
  /** Why the model stopped in its last answer. */
  stopReason: MessageEnd | undefined;
  /** Citations in `lastText`. */
  citations: readonly Citation[];
  /** Answers that did not match the output schema. */
  invalidOutputs: number;
  readonly compactions: Compactions;
  /** The run summarizes the history and does not answer. */
  readonly isCompaction: boolean;
  done:
    | {
        readonly status: RunStatus;
        readonly text: string;
        readonly grounded: boolean;
        readonly output?: Json;
        readonly error?: ErrorData;
        readonly canRetry?: true;
      }
    | undefined;
};

/** A background run that has ended, with the answer or the reason that its parent received. */
export type EndedWork = {
  readonly runId: string;
  readonly callId: string;
  readonly name: string;
  readonly status: RunStatus;
  readonly text: string;
};

/** An agent that handed off and waits, with its state at that time. */
export type HandoffFrame = {
  readonly agent: string;
  /** The handoff call; the answer becomes its result. */
  readonly call: Call;
  readonly turnState: TurnState;
  /** Length of the history before that turn. */
  base: number;
  readonly context: ContextSize;
  readonly compactions: number;
  readonly instructions: string | undefined;
  readonly policy: Policy;
  readonly invalidOutputs: number;
  /** The target's answer, which becomes the result of the call. */
  returned: { readonly text: string; readonly data?: Json; readonly error?: ErrorData } | undefined;
};

/** The compactions of a run. */
export type Compactions = {
  count: number;
  /** A summary in progress, and the index of the model that writes it. */
  open: { readonly number: number; readonly until: number; readonly candidate: number } | undefined;
  /** Points at which results were last shortened and the history was last summarized. */
  shortenedAt: string | undefined;
  summarizedAt: string | undefined;
  /** Point at which results of the last turns were last shortened. */
  recentShortenedAt: string | undefined;
  /** For a run that compacts: the estimated tokens of the history before and after its summary. */
  saved: { readonly before: number; readonly after: number } | undefined;
};

/** One turn: the tools and notes of the request, the model's message, and the state of its calls. */
export type TurnState = {
  readonly turn: number;
  readonly tools: ToolOffer;
  readonly chain: ModelChain;
  readonly notes: readonly string[];
  /** The message so far, while the model continues it. */
  partial: PartialMessage | undefined;
  message: AssistantEntry | undefined;
  stopReason: MessageEnd | undefined;
  output: StructuredOutput | undefined;
  /** By id, in the order the model made them. */
  readonly calls: Map<string, Call>;
  /** Calls that the provider executes and that have no result yet, by id. */
  hosted: Map<string, { readonly name: string; readonly input: Json }> | undefined;
  unsettled: number;
  failure: ModelFailure | undefined;
  /** Since when all models of the turn are down, and how often the run suspended because of that. */
  failingSince: number | undefined;
  suspensions: number;
  /** How often the request exceeded the model's context window. */
  overflows: number;
  usage: Usage;
  /** The call repeated most often with the same result: total count, and count before this turn. */
  repeated: { readonly name: string; readonly count: number; readonly before: number } | undefined;
  ended: boolean;
  isSummarized: boolean;
};

/** A message that the model has not finished yet. */
export type PartialMessage = {
  readonly entry: AssistantEntry;
  readonly citations: readonly Citation[];
  /** Why it stopped last, and how often for each reason. */
  readonly stopReason: "length" | "pause";
  readonly counts: { readonly length: number; readonly pause: number };
  readonly candidate: number;
  /** False once a failure made readers discard the text. */
  isShown: boolean;
};

export type ModelFailure = {
  readonly model: string;
  readonly candidate: number;
  readonly hadMoreRoom: boolean;
  readonly error: ErrorData;
  /** The text of an answer that ended but cannot be used. */
  readonly text?: string;
  /** When the model can be called again. */
  readonly retryAt?: number;
};

export type Call = {
  /** The call to make: the model's, or with the arguments that the user approved instead. */
  part: CallPart;
  readonly check: CallCheck | undefined;
  /** The request for approval, once it was made. */
  approvalRequest: { readonly expiresAt: number | undefined } | undefined;
  approval:
    | {
        readonly approved: boolean;
        readonly reason?: string;
        /** The user changed the arguments: the digest of the call with them, and the model's arguments. */
        readonly edit?: { readonly digest: string; readonly before: Json };
      }
    | undefined;
  /** Questions the tool asked during the call. Only the last one may have no reply. */
  questions: readonly AskedQuestion[];
  /**
   * Number of starts. If it exceeds that of the last question and there is no result, the process crashed or the client
   * is running the call.
   */
  attempt: number;
  result: ResultEntry | undefined;
  record: ToolCallRecord | undefined;
  /** For a transfer or a handback: the agent now in charge. */
  handedTo?: string;
};

export type AskedQuestion = {
  readonly question: Question;
  readonly reason: string;
  readonly digest: string;
  readonly expiresAt: number | undefined;
  /** The start that ended with this question. */
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

/** A call that has a result. The input of a call that did not succeed may be invalid, and its tool unknown. */
export type ToolCallRecord<Call extends ToolCall = ToolCall> = {
  readonly id: string;
  readonly result: ResultEntry["content"];
  readonly attempts: number;
  readonly ms: number;
} & (
  | (Call["call"] & { readonly status: "ok" })
  | (ToolCall["call"] & { readonly status: Exclude<ResultEntry["status"], "ok"> })
);

export { addUsage, noUsage };

export function createState(sessionId: string): State {
  return {
    sessionId,
    seq: 0,
    at: 0,
    elapsedMs: 0,
    history: [],
    context: createContextSize(),
    callIds: new Set(),
    fragments: new Map(),
    numbers: new Map(),
    sessionMemory: undefined,
    labels: createLabels(),
    handles: new Map(),
    discovered: new Map(),
    cache: new Map(),
    run: undefined,
  };
}

/** Returns the running time, without the time spent waiting for the user. */
export function computeElapsedMs(run: RunState): number {
  return run.lastMs - run.startedMs - run.waitedMs;
}

/** The run and its ancestors, from the inside out. */
export function listAncestors(run: RunState): readonly RunState[] {
  const runs = [run];
  for (let next = run.parent?.state.run; next; next = next.parent?.state.run) runs.push(next);
  return runs;
}

/** The run made progress, or was released: earlier crashes no longer count against it. */
export function clearCrashes(run: RunState): void {
  run.recoveries = 0;
  run.isAlone = false;
  run.soloCrashes = 0;
}

/** Advances the session's time to the time of the fact. `elapsedMs` never decreases, even if the wall clock is set back. */
export function updateElapsedTime(state: State, { at, elapsedMs }: Fact): void {
  state.elapsedMs += elapsedMs ?? (state.seq > 0 ? Math.max(0, at - state.at) : 0);
  state.at = at;
}

/** Adds the time since the last fact to the waited time, if the run waited. */
export function updateWaitedTime(run: RunState, fact: Fact, elapsedMs: number): void {
  // An approval is delivered when no effect is in flight, so the time before it was spent waiting for the user.
  if (run.waiting || fact.type === "approval_resolved") run.waitedMs += elapsedMs - run.lastMs;
  run.waiting = false;
  run.lastMs = elapsedMs;
}

export function getRunId({ run }: Pick<State, "run">): string {
  return run?.id ?? "";
}
