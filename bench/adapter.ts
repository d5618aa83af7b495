import type { WireName } from "./model/wires.ts";

/** What every framework under measurement must be able to do, in its own usual way. */
export interface Adapter {
  /** The wires it is measured on; the first is its usual one. */
  readonly wires: readonly [WireName, ...WireName[]];
  /** Prepares an agent once. What is returned runs it, each time as a conversation of its own. */
  connect(target: Target): Ask | Promise<Ask>;
}

export type Target = {
  /** Where the provider's API begins, as its client is usually told: with `/v1` for OpenAI's wires, without for others. */
  readonly baseUrl: string;
  readonly wire: WireName;
  /** More turns than any run takes. */
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
  execute(input: { readonly key: string; readonly note: string }): string;
};

/** One run. `hear` gets the text while it comes, in pieces of any size. */
export type Ask = (prompt: string, hear: (text: string) => void) => Promise<Outcome>;

/** As the framework itself reports it, not as the adapter expects it. */
export type Outcome = { readonly text: string; readonly turns: number };

export const instructions = "You answer with the help of the lookup tool.";
export const modelName = "bench-1";
export const apiKey = "no-key";
