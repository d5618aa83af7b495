import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Tool, ToolReturn } from "capstan";
import { type FileToolsOptions, fileTools } from "../../file-tools.ts";

/** Content of a file that no tool may reach. */
export const canary = "CANARY-7f3a: nobody may read this";

/** A test root next to a folder that must not change. */
export type TemporaryRoot = {
  readonly path: string;
  /** Contains `secret.txt` with the canary. */
  readonly outside: string;
  /** Writes a file directly. */
  put(path: string, content: string | Uint8Array): string;
  /** Validates the input and calls a tool, like the loop. */
  call(tool: string, input: object, options?: CallOptions): Promise<unknown>;
  /** Asks a tool whether a call needs approval. */
  ask(tool: string, input: object): Promise<unknown>;
  /** Calls a tool and returns the text of its result. */
  text(tool: string, input: object): Promise<string>;
  remove(): void;
};

export type CallOptions = {
  readonly runId?: string;
  readonly sessionId?: string;
  readonly signal?: AbortSignal;
};

type RootToolsOptions = Omit<FileToolsOptions, "root">;

/** Creates both folders, or uses the folders of `shared`, and the tools for the root. */
export function createTemporaryRoot(
  options: RootToolsOptions | ((place: { readonly base: string }) => RootToolsOptions) = {},
  shared?: TemporaryRoot,
): TemporaryRoot {
  const base = shared ? dirname(shared.path) : realpathSync(mkdtempSync(join(tmpdir(), "capstan-files-")));
  const path = join(base, "root");
  const outside = join(base, "outside");
  for (const folder of [path, outside]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(outside, "secret.txt"), canary);
  const tools = fileTools({ root: path, ...(typeof options === "function" ? options({ base }) : options) });
  const call: TemporaryRoot["call"] = (tool, input, context) =>
    callFileTool(tools, tool, { input, ...context });
  return {
    path,
    outside,
    put(name, content) {
      const file = join(path, name);
      mkdirSync(join(file, ".."), { recursive: true });
      writeFileSync(file, content);
      return file;
    },
    call,
    ask: async (name, input) =>
      tools.find((tool) => tool.name === name)?.needsApproval?.(input, { context: undefined }),
    async text(tool, input) {
      const result = await call(tool, input);
      return typeof result === "string" ? result : String((result as ToolReturn).content);
    },
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

type ToolCallOptions = CallOptions & { readonly input: object };

/** Validates the input and calls one of the tools. */
export async function callFileTool(
  tools: readonly Tool[],
  name: string,
  { input, runId = "run", sessionId = "session", signal = new AbortController().signal }: ToolCallOptions,
): Promise<unknown> {
  const tool = tools.find((candidate) => candidate.name === name);
  const checked = await tool?.schema.validate(input);
  if (!tool?.execute || !checked?.valid) throw new Error(`${name} does not take ${JSON.stringify(input)}`);
  return tool.execute(checked.value, {
    signal,
    runId,
    sessionId,
    callId: "call",
    idempotencyKey: "key",
    context: undefined,
    answers: [],
    progress: () => undefined,
    readBlob: async () => undefined,
  });
}
