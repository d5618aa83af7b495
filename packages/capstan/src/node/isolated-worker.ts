// The process of one isolated call: receives the request, imports the module of the tool, executes the tool, and reports
// the result to its parent, which then kills it.
import { Worker } from "node:worker_threads";
import { AgentError, describeThrown, type ErrorData } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { type Binary, isBinary } from "../kernel/calls/binary.ts";
import { outputLimits, readToolOutput } from "../kernel/calls/read-tool-output.ts";
import { toJson } from "../kernel/calls/to-json.ts";
import { openIsolatedTools } from "../kernel/isolation.ts";
import type { Blob } from "../kernel/records.ts";
import type { ToolContext } from "../kernel/tool.ts";

/** The request of the parent. `context` is JSON. */
export type IsolatedRequest = {
  readonly module: string;
  readonly name: string;
  readonly input: unknown;
  readonly call: Pick<ToolContext, "runId" | "sessionId" | "callId" | "idempotencyKey" | "answers">;
  readonly context: string | undefined;
};

/** Answers `read_blob`. */
type BlobMessage = { readonly type: "blob"; readonly id: number; readonly blob: Blob | undefined };

export type IsolatedReport =
  | { readonly type: "progress"; readonly data: Json }
  | { readonly type: "read_blob"; readonly id: number; readonly handle: string }
  | { readonly type: "binary"; readonly binary: Binary }
  | { readonly type: "result"; readonly value: Json | undefined }
  | { readonly type: "failure"; readonly error: ErrorData; readonly stack: string | undefined };

const send = (report: IsolatedReport) => void process.send?.(report);

/** Ends this process when its parent is gone, even while the tool blocks the event loop. */
function watchParent(): void {
  const program = `
    const parent = ${process.ppid};
    setInterval(() => {
      try {
        if (process.ppid === parent) return process.kill(parent, 0);
      } catch {}
      process.kill(process.pid, "SIGKILL");
    }, 500);`;
  new Worker(program, { eval: true, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 8 } }).unref();
  process.once("disconnect", () => process.exit());
}

function createBlobReader(): ToolContext["readBlob"] {
  const pending: ((blob: Blob | undefined) => void)[] = [];
  process.on("message", (message: BlobMessage) => {
    if (message.type === "blob") pending[message.id]?.(message.blob);
  });
  return (handle) =>
    new Promise((resolve) => {
      send({ type: "read_blob", id: pending.push(resolve) - 1, handle });
    });
}

async function execute({ module, name, input, call, context }: IsolatedRequest): Promise<IsolatedReport> {
  const tools = openIsolatedTools();
  const { signal } = new AbortController();
  try {
    await import(module);
    const tool = tools.get(name);
    if (!tool) {
      const message = `Importing "${module}" does not define the isolated tool "${name}". Set \`isolate: { module }\` to the module whose import does.`;
      throw new AgentError("invalid_definition", message);
    }
    const toolContext: ToolContext = {
      ...call,
      signal,
      context: context === undefined ? undefined : JSON.parse(context),
      progress: (data) => send({ type: "progress", data }),
      readBlob: createBlobReader(),
    };
    const output = await readToolOutput(await tool(input, toolContext as never), { signal, ...outputLimits });
    if (isBinary(output)) return { type: "binary", binary: { ...output } };
    const value =
      output === undefined ? undefined : toJson(output, { characters: outputLimits.maxCharacters });
    return { type: "result", value };
  } catch (thrown) {
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    return { type: "failure", error: describeThrown(thrown, "tool_failed"), stack };
  }
}

watchParent();
process.once("message", (request: IsolatedRequest) => void execute(request).then(send));
