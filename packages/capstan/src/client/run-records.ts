import type { Entry } from "../history.ts";
import type { Json } from "../json.ts";
import type { ToolSpec } from "../model.ts";
import type { PolicyOverrides } from "../policy.ts";
import type { Difference } from "../sessions/difference.ts";
import type { Connection } from "./connection.ts";
import type { StartedRun } from "./runs-client.ts";
import type { World } from "./world.ts";

export type { Difference };

/** The formats that providers are spoken to in. */
export type WireName = "openai-chat" | "openai-responses" | "anthropic" | "gemini";

/** What a model was sent in a turn, made again. */
export type SentTurn = {
  readonly turn: number;
  readonly agent: string;
  readonly model: string;
  /** Without the notes, which come at their end. */
  readonly instructions: string;
  /** Added for this turn alone, such as that few turns are left. */
  readonly notes: readonly string[];
  readonly tools: readonly ToolSpec[];
  readonly toolChoice: "auto" | "required" | "none";
  readonly history: readonly Entry[];
  /** A function has made them, which was asked again and may say something else by now. */
  readonly instructionsAreRebuilt: boolean;
  /** The tools come and go: these are those of now. */
  readonly toolsAreRebuilt: boolean;
  /** The request as a provider is written to, when a format was asked for. */
  readonly body?: Json;
};

type InFormat = { readonly wire?: WireName };

/** Looking at what a run was made of, and doing it again. */
export interface RunRecords {
  /** What the model was sent in a turn. */
  turn(runId: string, turn: number, options?: InFormat): Promise<SentTurn>;
  /** The history at the end of a run: entries, or messages of a provider. */
  messages(runId: string, options?: InFormat): Promise<readonly Json[]>;
  /** Runs again what a run was asked, in a fork of its session. */
  rerun(runId: string, options?: { readonly policy?: PolicyOverrides }): Promise<StartedRun>;
  /** How two runs differ. */
  difference(left: string, right: string): Promise<Difference>;
}

/** Of the server at the other end. */
export function runRecords({ ask }: Connection, world: World): RunRecords {
  const pathOf = (runId: string) => `/api/runs/${encodeURIComponent(runId)}`;
  return {
    turn: (runId, turn, { wire } = {}) =>
      ask({ method: "GET", path: `${pathOf(runId)}/turns/${turn}`, query: { wire } }),
    messages: async (runId, { wire } = {}) => {
      const asking = { method: "GET", path: `${pathOf(runId)}/messages`, query: { wire } } as const;
      return (await ask<{ messages: readonly Json[] }>(asking)).messages;
    },
    rerun: (runId, options = {}) =>
      ask({ method: "POST", path: `${pathOf(runId)}/rerun`, body: options, key: world.newKey() }),
    difference: (left, right) =>
      ask({ method: "GET", path: `${pathOf(left)}/difference/${encodeURIComponent(right)}` }),
  };
}
