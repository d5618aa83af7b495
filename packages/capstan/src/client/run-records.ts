import type { Json } from "../base/json.ts";
import type { CallPreview } from "../features/calls/pending-calls.ts";
import type { ExactRequest, TriedTurn } from "../features/exact-requests/stored-request.ts";
import type { Entry } from "../kernel/history.ts";
import type { ToolSpec } from "../kernel/model.ts";
import type { PolicyOverrides } from "../kernel/policy.ts";
import type { ModelSettings, ToolChoice } from "../kernel/settings/settings.ts";
import type { Difference } from "../sessions/difference.ts";
import type { Connection } from "./connection.ts";
import type { ClientEnvironment } from "./environment.ts";
import type { StartedRun } from "./runs-client.ts";

export type { CallPreview, Difference, ExactRequest, TriedTurn };

/** Wire formats of the providers. */
export type WireName = "openai-chat" | "openai-responses" | "anthropic" | "gemini";

/** A model request of a turn, rebuilt from the log. */
export type SentTurn = {
  readonly turn: number;
  readonly agent: string;
  readonly model: string;
  /** Without the notes, which are appended. */
  readonly instructions: string;
  /** Added for this turn only, for example that few turns are left. */
  readonly notes: readonly string[];
  readonly tools: readonly ToolSpec[];
  readonly toolChoice: ToolChoice;
  /** The tools that the model had found with a search, and how many more it could search for. */
  readonly discovered: readonly string[];
  readonly deferred: number;
  /** Of the agent and the run, without the settings of the model's client. */
  readonly settings?: Omit<ModelSettings, "toolChoice">;
  readonly history: readonly Entry[];
  /** Built by a function that was called again and may return something else now. */
  readonly instructionsAreRebuilt: boolean;
  /** The tools are dynamic: these are the current ones. */
  readonly toolsAreRebuilt: boolean;
  /** The request in the wire format, if one was requested. */
  readonly body?: Json;
};

/** Changes to the request of a turn. Instructions and tools require an admin key. */
export type TurnEdits = {
  readonly instructions?: string;
  readonly history?: readonly Entry[];
  readonly tools?: readonly ToolSpec[];
  readonly settings?: ModelSettings;
  /** One of the models that the server offers. */
  readonly model?: string;
};

type RerunOptions = { readonly policy?: PolicyOverrides; readonly settings?: ModelSettings };

type WireOptions = { readonly wire?: WireName };

/** Inspects, compares and repeats runs. */
export interface RunRecords {
  /** Returns the request that the model received in a turn. */
  turn(runId: string, turn: number, options?: WireOptions): Promise<SentTurn>;
  /** Returns the model requests of a turn exactly as they were sent. Rejects with `not_found` for older runs. */
  requests(
    runId: string,
    turn: number,
    options?: { readonly callId?: string },
  ): Promise<readonly ExactRequest[]>;
  /** Sends the request of a turn again with changes: one model call. No tool runs, nothing is stored. */
  tryTurn(runId: string, turn: number, changes?: TurnEdits): Promise<TriedTurn>;
  /**
   * Checks a call that waits for approval with other arguments: the reason, the warnings and the preview of the changed
   * call, and the schema of the arguments. Nothing is stored.
   */
  previewCall(runId: string, callId: string, input?: Json): Promise<CallPreview>;
  /** Returns the history at the end of a run, as entries or in a wire format. */
  messages(runId: string, options?: WireOptions): Promise<readonly Json[]>;
  /** Repeats a run in a fork of its session. The options override the original run's. */
  rerun(runId: string, options?: RerunOptions): Promise<StartedRun>;
  /** Compares two runs. */
  difference(left: string, right: string): Promise<Difference>;
}

/** A model may think for minutes before it answers. */
const modelTimeoutMs = 600_000;

export function createRunRecords({ request }: Connection, environment: ClientEnvironment): RunRecords {
  const getRunPath = (runId: string) => `/api/runs/${encodeURIComponent(runId)}`;
  return {
    turn: (runId, turn, { wire } = {}) =>
      request({ method: "GET", path: `${getRunPath(runId)}/turns/${turn}`, query: { wire } }),
    requests: async (runId, turn, { callId } = {}) => {
      const path = `${getRunPath(runId)}/requests/${turn}`;
      const answer = await request<{ requests: readonly ExactRequest[] }>({
        ...{ method: "GET", path, query: { callId } },
      });
      return answer.requests;
    },
    tryTurn: (runId, turn, changes = {}) =>
      request({
        method: "POST",
        path: `${getRunPath(runId)}/requests/${turn}/try`,
        body: changes,
        timeoutMs: modelTimeoutMs,
      }),
    previewCall: (runId, callId, input) =>
      request({
        method: "POST",
        path: `${getRunPath(runId)}/approvals/${encodeURIComponent(callId)}/preview`,
        body: { ...(input !== undefined && { input }) },
      }),
    messages: async (runId, { wire } = {}) => {
      const apiRequest = { method: "GET", path: `${getRunPath(runId)}/messages`, query: { wire } } as const;
      return (await request<{ messages: readonly Json[] }>(apiRequest)).messages;
    },
    rerun: (runId, options = {}) =>
      request({
        method: "POST",
        path: `${getRunPath(runId)}/rerun`,
        body: options,
        key: environment.createKey(),
      }),
    difference: (left, right) =>
      request({ method: "GET", path: `${getRunPath(left)}/difference/${encodeURIComponent(right)}` }),
  };
}
