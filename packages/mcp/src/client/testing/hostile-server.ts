// A misbehaving server. Its first argument selects its behavior at startup; each of its tools misbehaves in one way.
import { spawn } from "node:child_process";
import { fstatSync, writeFileSync } from "node:fs";
import {
  completeFields,
  createDiscoverResult,
  defineRawTool,
  type Handlers,
  type Params,
  send,
  serveStdio,
  toTextResult,
} from "./raw-server.ts";

const [, , behavior = "calls", file = ""] = process.argv;

const doNothing = () => undefined;
const megabyte = "x".repeat(1024 * 1024);
/** Ids of cancelled calls. */
const cancelled: unknown[] = [];

/** Writes all pieces, waiting for the pipe to drain. */
async function writeAll(pieces: Iterable<string>): Promise<void> {
  for (const piece of pieces)
    if (!process.stdout.write(piece)) await new Promise((resolve) => process.stdout.once("drain", resolve));
}

function repeat(piece: string, times: number): string[] {
  return Array.from({ length: times }, () => piece);
}

function isSocket(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isSocket();
  } catch {
    return false;
  }
}

function createNestedJson(depth: number): string {
  return `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
}

const tools: { readonly [name: string]: (input: Params, id: unknown) => unknown } = {
  echo: ({ said }) => toTextResult(String(said)),
  fall: () => process.exit(3),
  hang: doNothing,
  cancelled: () => toTextResult(JSON.stringify(cancelled)),
  async junk() {
    await writeAll([
      "Listening…\n",
      "{ not json\n",
      "[1, 2]\n",
      "\n",
      '{"hello":"world"}\n',
      "\u001b[31mred\u001b[0m\n",
    ]);
    return toTextResult("still here");
  },
  async flood() {
    await writeAll(repeat("debug: a line that is no message\n", 1_100));
  },
  async "long-line"({ megabytes }) {
    await writeAll(['{"jsonrpc":"2.0","result":{"content":"', ...repeat(megabyte, Number(megabytes))]);
  },
  stray(_, id) {
    const result = toTextResult("once");
    send({ jsonrpc: "2.0", id: 999_999, result });
    send({ jsonrpc: "2.0", id: "nobody", error: { code: 1, message: "for nobody" } });
    send({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 4711, progress: 1 } });
    send({ jsonrpc: "2.0", id, result });
    send({ jsonrpc: "2.0", id, result: toTextResult("twice") });
    send({ jsonrpc: "1.0", id, result });
    send({ jsonrpc: "2.0", id, result: toTextResult("both"), error: { code: 1, message: "both" } });
  },
  "wrong-shape": () => ({ content: [{ type: "text", text: 7 }, "no item"] }),
  environment: () => toTextResult(JSON.stringify(process.env)),
  pid: () => toTextResult(String(process.pid)),
  links: () => ({
    content: [
      { type: "resource_link", name: "passwords", uri: "file:///etc/passwd" },
      { type: "resource_link", name: "metadata", uri: "http://169.254.169.254/latest/meta-data" },
    ],
  }),
  "many-items": ({ count, bad }) => ({
    content: repeat("", Number(count)).map((said) => ({ type: "text", text: bad ? 1 : said })),
  }),
  // Whether the fourth file descriptor is the guard's lifeline.
  line: () => toTextResult(isSocket(3) ? "a socket" : "no socket"),
  deep: (_, id) =>
    send(
      `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${createNestedJson(100_000)}}}`,
    ),
  "deep-stray"() {
    send(`{"jsonrpc":"2.0","id":4711,"result":${createNestedJson(100_000)}}`);
    return toTextResult("still here");
  },
};

const calls: Handlers = {
  "tools/list": () => ({ tools: Object.keys(tools).map((name) => defineRawTool(name)) }),
  "tools/call": ({ name, arguments: input }, id) => tools[String(name)]?.((input ?? {}) as Params, id),
  "notifications/cancelled": ({ requestId }) => void cancelled.push(requestId),
};

function recordProcesses(child: number): void {
  writeFileSync(file, `${process.pid} ${child} ${process.ppid} .\n`);
}

/** Starts a child in the same process group. */
function startChild(): number {
  const child = spawn("sleep", ["600"], { stdio: "ignore" });
  return child.pid ?? 0;
}

/** Starts a child outside the process group that keeps our pipes open. */
function startDaemon(): number {
  const child = spawn("sleep", ["20"], { stdio: ["ignore", "inherit", "inherit"], detached: true });
  child.unref();
  return child.pid ?? 0;
}

const behaviors: { readonly [name: string]: () => void } = {
  calls: () => serveStdio("hostile", calls),
  modern: () =>
    serveStdio("hostile", {
      "server/discover": () => createDiscoverResult("hostile"),
      "tools/list": () => ({
        ...completeFields,
        tools: Object.keys(tools).map((name) => defineRawTool(name)),
      }),
      "tools/call": async (params, id) => {
        const result = await calls["tools/call"]?.(params, id);
        return result && { ...completeFields, ...result };
      },
      "notifications/cancelled": ({ requestId }) => void cancelled.push(requestId),
    }),
  "exit-at-start"() {
    process.stderr.write("no configuration\n");
    process.exit(1);
  },
  "exit-on-initialize": () => serveStdio("hostile", { initialize: () => process.exit(2) }),
  silent: () => setInterval(doNothing, 1_000),
  "hang-at-start": () => serveStdio("hostile", { "server/discover": doNothing, initialize: doNothing }),
  "hang-on-list": () => serveStdio("hostile", { "tools/list": doNothing }),
  pages: () =>
    serveStdio("hostile", {
      ...calls,
      "tools/list": ({ cursor = 0 }) => ({
        tools: [defineRawTool(`page-${cursor}`)],
        nextCursor: String(Number(cursor) + 1),
      }),
    }),
  "deep-schema": () =>
    serveStdio("hostile", {
      ...calls,
      "tools/list": (_, id) => {
        const good = JSON.stringify(defineRawTool("echo"));
        const deep = `{"name":"deep","inputSchema":{"type":"object","not":${createNestedJson(100_000)}}}`;
        send(`{"jsonrpc":"2.0","id":${id},"result":{"tools":[${deep},${good}]}}`);
      },
    }),
  stubborn() {
    process.on("SIGTERM", () => undefined);
    recordProcesses(startChild());
    // Does not exit when stdin ends either.
    setInterval(doNothing, 1_000);
    process.exit = doNothing as never;
    serveStdio("stubborn", calls);
  },
  family() {
    recordProcesses(startChild());
    serveStdio("family", calls);
  },
  daemon() {
    recordProcesses(startDaemon());
    serveStdio("daemon", calls);
  },
};

behaviors[behavior]?.();
