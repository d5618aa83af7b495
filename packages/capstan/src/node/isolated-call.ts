// Executes each call of a tool in a separate process, which imports the tool's module. Unlike a worker thread, a process
// also contains native crashes, `process.exit` and memory outside the heap. It is killed when the call is cancelled or
// times out, even if its event loop is blocked.
import type { ChildProcess } from "node:child_process";
import { AgentError, describeThrown } from "../base/errors.ts";
import { createBinary } from "../kernel/calls/binary.ts";
import { getBuiltinLoader, getIsolatedTools } from "../kernel/isolation.ts";
import type { Tool, ToolContext } from "../kernel/tool.ts";
import type { IsolatedReport, IsolatedRequest } from "./isolated-worker.ts";

/** Executes an isolated tool. Rejects with `tool_crashed` when its process ends without a result. */
export async function executeIsolated(tool: Tool, input: unknown, context: ToolContext): Promise<unknown> {
  // This process was started for the call, so it does not start another one.
  if (!tool.isolate || getIsolatedTools()) return tool.execute?.(input, context);
  const { signal } = context;
  signal.throwIfAborted();
  const request = buildRequest(tool, input, context);
  const child = startProcess(tool.isolate.memoryMb);
  const kill = () => void child.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });
  try {
    return await exchangeMessages(child, request, { tool, context });
  } finally {
    signal.removeEventListener("abort", kill);
    kill();
  }
}

function startProcess(memoryMb: number): ChildProcess {
  const { fork } = getBuiltinLoader()("child_process");
  // Bundled builds have the worker at another place than the sources.
  const program = import.meta.url.endsWith(".ts")
    ? new URL("./isolated-worker.ts", import.meta.url)
    : new URL(import.meta.resolve("capstan/isolated-worker"));
  return fork(program, [], {
    serialization: "advanced",
    execArgv: [
      ...pickFlags(process.execArgv),
      `--max-old-space-size=${memoryMb}`,
      // The young generation has three of these, and by default may grow to 192 MB beyond the limit.
      `--max-semi-space-size=${Math.ceil(memoryMb / 16)}`,
    ],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
}

const inheritedFlags =
  /^(?:-C|-r|--(?:conditions|import|require|loader|experimental-[a-z-]+|disable-warning|no-warnings|enable-source-maps))$/;

/** Keeps the flags that modules may need. Others are about the program, such as `--eval`, `--test` or `--inspect`. */
function pickFlags(flags: readonly string[]): string[] {
  return flags.filter((flag, index) => {
    const [name = ""] = flag.split("=", 1);
    const previous = flags[index - 1] ?? "";
    const isValue = !flag.startsWith("-") && !previous.includes("=") && inheritedFlags.test(previous);
    return isValue || inheritedFlags.test(name);
  });
}

function buildRequest({ isolate, name }: Tool, input: unknown, context: ToolContext): IsolatedRequest {
  const { runId, sessionId, callId, idempotencyKey, answers } = context;
  let runContext: string | undefined;
  try {
    runContext = JSON.stringify(context.context);
  } catch (cause) {
    const message = `The \`context\` of the run cannot be sent to the isolated tool "${name}": ${describeThrown(cause, "tool_failed").message}`;
    throw new AgentError("tool_failed", message, { cause, retryable: false });
  }
  return {
    module: isolate?.module ?? "",
    name: isolate?.name ?? name,
    input,
    call: { runId, sessionId, callId, idempotencyKey, answers },
    context: runContext,
  };
}

type CallOptions = { readonly tool: Tool; readonly context: ToolContext };

function exchangeMessages(
  child: ChildProcess,
  request: IsolatedRequest,
  { tool, context }: CallOptions,
): Promise<unknown> {
  let output = "";
  const forward = (chunk: Buffer) => {
    output = `${output}${chunk}`.slice(-10_000);
    // Not to stdout, which may carry a protocol: an MCP server uses stdout for its messages.
    process.stderr.write(chunk);
  };
  child.stdout?.on("data", forward);
  child.stderr?.on("data", forward);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    // Not "exit": the output must have been read completely.
    child.on("close", (code, signal) => {
      const reason = /heap out of memory|heap limit/i.test(output)
        ? `ran out of memory (limit: ${tool.isolate?.memoryMb} MB)`
        : `ended without a result (${signal ?? `exit code ${code}`})`;
      reject(new AgentError("tool_crashed", `"${tool.name}" crashed: its process ${reason}.`));
    });
    child.on("message", (report: IsolatedReport) => {
      switch (report.type) {
        case "progress":
          return context.progress(report.data);
        case "read_blob":
          return void context
            .readBlob(report.handle)
            .then((blob) => child.connected && child.send({ type: "blob", id: report.id, blob }), reject);
        case "binary":
          return resolve(createBinary(report.binary));
        case "result":
          return resolve(report.value);
        case "failure":
          return reject(
            Object.assign(
              new Error(report.error.message),
              report.error,
              report.stack && { stack: report.stack },
            ),
          );
      }
    });
    child.send(request, (error) => error && reject(error));
  });
}
