import type { ZodType } from "zod";
import type { WireName } from "./model/wires.ts";

/** The interface of a measured framework, implemented in its idiomatic way. */
export interface Adapter {
  /** The wires it is measured on; the first is its default. */
  readonly wires: readonly [WireName, ...WireName[]];
  /** Prepares an agent once. Each call of the returned function is a new conversation. */
  connect(target: Target): RunPrompt | Promise<RunPrompt>;
}

export type Target = {
  /** The provider's base URL as its client expects it: with `/v1` for OpenAI's wires, without for others. */
  readonly baseUrl: string;
  readonly wire: WireName;
  /** Higher than the turns of any run. */
  readonly maxTurns: number;
  readonly tool: BenchTool;
};

/** The one tool of the agent. Its arguments are `{ key: string, note: string }`. */
export type BenchTool = {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly parameters: {
    readonly type: "object";
    readonly properties: {
      readonly key: { readonly type: "string" };
      readonly note: { readonly type: "string" };
    };
    readonly required: readonly ["key", "note"];
    readonly additionalProperties: false;
  };
  /** The same as a zod schema, in works that measure one. */
  readonly zodParameters?: ZodType<{ readonly key: string; readonly note: string }>;
  execute(input: { readonly key: string; readonly note: string }): string;
};

/** Performs one run. `onText` receives the streamed text in pieces of any size. */
export type RunPrompt = (prompt: string, onText: (text: string) => void) => Promise<Outcome>;

/** As reported by the framework, not as expected by the adapter. */
export type Outcome = { readonly text: string; readonly turns: number };

export const instructions = "You answer with the help of the lookup tool.";
export const modelName = "bench-1";
export const apiKey = "no-key";
