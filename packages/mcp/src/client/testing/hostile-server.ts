// A server that misbehaves. Its first argument says how it begins; once it runs, each of its tools does one bad thing.
import { spawn } from "node:child_process";
import { fstatSync, writeFileSync } from "node:fs";
import {
  complete,
  discovered,
  type Handlers,
  type Params,
  send,
  serve,
  text,
  toolNamed,
} from "./raw-server.ts";

const [, , manner = "calls", file = ""] = process.argv;

const silence = () => undefined;
const megabyte = "x".repeat(1024 * 1024);
/** Whose calls were cancelled. */
const cancelled: unknown[] = [];

/** Writes so much that it has to wait, and then what comes after. */
async function write(pieces: Iterable<string>): Promise<void> {
  for (const piece of pieces)
    if (!process.stdout.write(piece)) await new Promise((resolve) => process.stdout.once("drain", resolve));
}

function repeated(piece: string, times: number): string[] {
  return Array.from({ length: times }, () => piece);
}

function isSocket(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isSocket();
  } catch {
    return false;
  }
}

function nested(depth: number): string {
  return `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
}

const tools: { readonly [name: string]: (input: Params, id: unknown) => unknown } = {
  echo: ({ said }) => text(String(said)),
  fall: () => process.exit(3),
  hang: silence,
  cancelled: () => text(JSON.stringify(cancelled)),
  async junk() {
    await write([
      "Listening…\n",
      "{ not json\n",
      "[1, 2]\n",
      "\n",
      '{"hello":"world"}\n',
      "\u001b[31mred\u001b[0m\n",
    ]);
    return text("still here");
  },
  async flood() {
    await write(repeated("debug: a line that is no message\n", 1_100));
  },
  async "long-line"({ megabytes }) {
    await write(['{"jsonrpc":"2.0","result":{"content":"', ...repeated(megabyte, Number(megabytes))]);
  },
  stray(_, id) {
    const result = text("once");
    send({ jsonrpc: "2.0", id: 999_999, result });
    send({ jsonrpc: "2.0", id: "nobody", error: { code: 1, message: "for nobody" } });
    send({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 4711, progress: 1 } });
    send({ jsonrpc: "2.0", id, result });
    send({ jsonrpc: "2.0", id, result: text("twice") });
    send({ jsonrpc: "1.0", id, result });
    send({ jsonrpc: "2.0", id, result: text("both"), error: { code: 1, message: "both" } });
  },
  "wrong-shape": () => ({ content: [{ type: "text", text: 7 }, "no item"] }),
  environment: () => text(JSON.stringify(process.env)),
  pid: () => text(String(process.pid)),
  links: () => ({
    content: [
      { type: "resource_link", name: "passwords", uri: "file:///etc/passwd" },
      { type: "resource_link", name: "metadata", uri: "http://169.254.169.254/latest/meta-data" },
    ],
  }),
  "many-items": ({ count, bad }) => ({
    content: repeated("", Number(count)).map((said) => ({ type: "text", text: bad ? 1 : said })),
  }),
  // Whether the fourth descriptor is the guard's line to us.
  line: () => text(isSocket(3) ? "a socket" : "no socket"),
  deep: (_, id) =>
    send(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${nested(100_000)}}}`),
  "deep-stray"() {
    send(`{"jsonrpc":"2.0","id":4711,"result":${nested(100_000)}}`);
    return text("still here");
  },
};

const calls: Handlers = {
  "tools/list": () => ({ tools: Object.keys(tools).map((name) => toolNamed(name)) }),
  "tools/call": ({ name, arguments: input }, id) => tools[String(name)]?.((input ?? {}) as Params, id),
  "notifications/cancelled": ({ requestId }) => void cancelled.push(requestId),
};

function tellProcesses(child: number): void {
  writeFileSync(file, `${process.pid} ${child} ${process.ppid} .\n`);
}

/** A child in the same group, that would outlive us. */
function startChild(): number {
  const child = spawn("sleep", ["600"], { stdio: "ignore" });
  return child.pid ?? 0;
}

/** A child that has left the group and keeps our pipes open. */
function startDaemon(): number {
  const child = spawn("sleep", ["20"], { stdio: ["ignore", "inherit", "inherit"], detached: true });
  child.unref();
  return child.pid ?? 0;
}

const manners: { readonly [name: string]: () => void } = {
  calls: () => serve("hostile", calls),
  modern: () =>
    serve("hostile", {
      "server/discover": () => discovered("hostile"),
      "tools/list": () => ({ ...complete, tools: Object.keys(tools).map((name) => toolNamed(name)) }),
      "tools/call": async (params, id) => {
        const result = await calls["tools/call"]?.(params, id);
        return result && { ...complete, ...result };
      },
      "notifications/cancelled": ({ requestId }) => void cancelled.push(requestId),
    }),
  "exit-at-start"() {
    process.stderr.write("no configuration\n");
    process.exit(1);
  },
  "exit-on-initialize": () => serve("hostile", { initialize: () => process.exit(2) }),
  silent: () => setInterval(silence, 1_000),
  "hang-at-start": () => serve("hostile", { "server/discover": silence, initialize: silence }),
  "hang-on-list": () => serve("hostile", { "tools/list": silence }),
  pages: () =>
    serve("hostile", {
      ...calls,
      "tools/list": ({ cursor = 0 }) => ({
        tools: [toolNamed(`page-${cursor}`)],
        nextCursor: String(Number(cursor) + 1),
      }),
    }),
  "deep-schema": () =>
    serve("hostile", {
      ...calls,
      "tools/list": (_, id) => {
        const good = JSON.stringify(toolNamed("echo"));
        const deep = `{"name":"deep","inputSchema":{"type":"object","not":${nested(100_000)}}}`;
        send(`{"jsonrpc":"2.0","id":${id},"result":{"tools":[${deep},${good}]}}`);
      },
    }),
  stubborn() {
    process.on("SIGTERM", () => undefined);
    tellProcesses(startChild());
    // It does not leave when its input ends either.
    setInterval(silence, 1_000);
    process.exit = silence as never;
    serve("stubborn", calls);
  },
  family() {
    tellProcesses(startChild());
    serve("family", calls);
  },
  daemon() {
    tellProcesses(startDaemon());
    serve("daemon", calls);
  },
};

manners[manner]?.();
