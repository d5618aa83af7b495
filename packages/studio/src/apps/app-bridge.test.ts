import type { Json } from "capstan";
import { describe, expect, it } from "vitest";
import { type AppBridge, type AppHost, createAppBridge, type ToolResult } from "./app-bridge.ts";

type Posted = {
  readonly id?: number;
  readonly method?: string;
  readonly error?: { code: number; message: string };
};

type Connected = { readonly bridge: AppBridge; readonly posted: Posted[]; readonly log: string[] };

const result: ToolResult = { content: [{ type: "text", text: "done" }] };

function connect(host: Partial<AppHost> = {}, now = () => 0): Connected {
  const posted: Posted[] = [];
  const log: string[] = [];
  const bridge = createAppBridge({
    host: {
      callTool: async (name, input) => {
        log.push(`${name} ${JSON.stringify(input)}`);
        return result;
      },
      openLink: async () => true,
      sendMessage: async () => true,
      onResize: (height) => log.push(`height ${height}`),
      onClose: () => log.push("close"),
      onViolation: (reason) => log.push(reason),
      ...host,
    },
    post: (message) => posted.push(message as Posted),
    getContext: () => ({ theme: "dark" }),
    call: { input: { city: "Oslo" }, result },
    now,
  });
  return { bridge, posted, log };
}

const request = (id: number, method: string, params?: unknown) => ({ jsonrpc: "2.0", id, method, params });
const notification = (method: string, params?: unknown) => ({ jsonrpc: "2.0", method, params });
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("the bridge to an MCP App", () => {
  it("introduces the host, then gives the app the call that it shows", async () => {
    const { bridge, posted } = connect();
    bridge.receive(request(1, "ui/initialize", {}));
    await settle();
    expect(posted).toMatchObject([
      { id: 1, result: { protocolVersion: "2026-01-26", hostContext: { theme: "dark" } } },
    ]);
    bridge.receive(notification("ui/notifications/initialized"));
    expect(posted.slice(1)).toEqual([
      notification("ui/notifications/tool-input", { arguments: { city: "Oslo" } }),
      notification("ui/notifications/tool-result", result),
    ]);
  });

  it.each([
    ["an unknown method", request(1, "resources/read", { uri: "file:///etc/passwd" }), -32601],
    ["a method of every object", request(1, "constructor"), -32601],
    ["a call without a name", request(1, "tools/call", { arguments: {} }), -32602],
    ["a call whose arguments are a list", request(1, "tools/call", { name: "add", arguments: [] }), -32602],
    [
      "arguments of two megabytes",
      request(1, "tools/call", { name: "a", arguments: { a: "x".repeat(2e6) } }),
      -32602,
    ],
    [
      "a message of too many characters",
      request(1, "ui/message", { content: [{ type: "text", text: "x".repeat(1001) }] }),
      -32602,
    ],
    ["a message with an image", request(1, "ui/message", { content: [{ type: "image", data: "" }] }), -32602],
  ])("refuses %s (A140)", async (_title, message, code) => {
    const { bridge, posted, log } = connect();
    bridge.receive(message);
    await settle();
    expect(posted).toMatchObject([{ id: 1, error: { code } }]);
    expect(log).toEqual([]);
  });

  it.each<[unknown]>([
    [null],
    ["text"],
    [[]],
    [{}],
    [{ jsonrpc: "1.0", id: 1, method: "ping" }],
    [{ jsonrpc: "2.0", id: {}, method: "ping" }],
    [{ jsonrpc: "2.0", id: 1, result: {} }],
  ])("ignores %j (A140)", async (message) => {
    const { bridge, posted } = connect();
    bridge.receive(message);
    await settle();
    expect(posted).toEqual([]);
  });

  it("stops an app after 200 messages within a second, and hears nothing of it any more (A140)", () => {
    const { bridge, log } = connect();
    for (let count = 0; count < 300; count++)
      bridge.receive(notification("ui/notifications/size-changed", { height: count }));
    expect(log).toHaveLength(201);
    expect(log.at(-1)).toBe("It sent too many messages.");
  });

  it("makes at most four calls at once and 60 within a minute (A140)", async () => {
    const open: ((result: ToolResult) => void)[] = [];
    let time = 0;
    const waiting = connect({ callTool: () => new Promise((resolve) => open.push(resolve)) });
    for (let id = 1; id <= 6; id++) waiting.bridge.receive(request(id, "tools/call", { name: "add" }));
    await settle();
    expect(waiting.posted.map(({ id, error }) => [id, error?.message])).toEqual([
      [5, "Too many calls are open. Wait for a result."],
      [6, "Too many calls are open. Wait for a result."],
    ]);
    const { bridge, posted, log } = connect({}, () => time);
    for (let id = 1; id <= 65; id++) {
      time += 500;
      bridge.receive(request(id, "tools/call", { name: "add" }));
      await settle();
    }
    expect(log).toHaveLength(60);
    expect(posted.at(-1)?.error?.message).toBe("Too many calls within a minute.");
    time += 60_000;
    bridge.receive(request(66, "tools/call", { name: "add" }));
    await settle();
    expect(log).toHaveLength(61);
  });

  it("gives the reason of a call that was refused, and says whether the user agreed", async () => {
    const refuse = async (): Promise<never> => {
      throw new Error("The apps may not call that.");
    };
    const { bridge, posted } = connect({ callTool: refuse, sendMessage: async () => false });
    bridge.receive(request(1, "tools/call", { name: "reset", arguments: { all: true } as Json }));
    bridge.receive(request(2, "ui/message", { role: "user", content: [{ type: "text", text: "Hello" }] }));
    bridge.receive(request(3, "ui/open-link", { url: "https://example.com" }));
    await settle();
    expect(posted.toSorted((left, right) => (left.id ?? 0) - (right.id ?? 0))).toMatchObject([
      { id: 1, error: { message: "The apps may not call that." } },
      { id: 2, result: { isError: true } },
      { id: 3, result: {} },
    ]);
  });
});
