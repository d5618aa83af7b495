import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { createRestTransport } from "./rest-transport.ts";

function createTestTransport(fetch: typeof globalThis.fetch): {
  ask(method: string, params?: object): Promise<unknown>;
  close(): Promise<void>;
} {
  const transport = createRestTransport({ url: "http://127.0.0.1:5000/api", headers: {}, fetch });
  const answers: JSONRPCMessage[] = [];
  transport.onmessage = (message) => void answers.push(message as JSONRPCMessage);
  return {
    async ask(method, params = {}) {
      await transport.send({ jsonrpc: "2.0", id: 7, method, params: { ...params } });
      return answers.pop();
    },
    close: () => transport.close(),
  };
}

const rejectFetch = () => Promise.reject(new Error("Nothing should be asked."));

describe("the transport to a plain HTTP server (C-14)", () => {
  it("answers the handshake itself, in the requested revision", async () => {
    const { ask } = createTestTransport(rejectFetch);
    expect(await ask("initialize", { protocolVersion: "2025-11-25" })).toEqual({
      ...{ jsonrpc: "2.0", id: 7 },
      result: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "127.0.0.1:5000", version: "" },
      },
    });
    expect(await ask("ping")).toMatchObject({ result: {} });
  });

  it("supports only tools", async () => {
    const { ask } = createTestTransport(rejectFetch);
    expect(await ask("resources/list")).toMatchObject({ id: 7, error: { code: -32601 } });
  });

  it("requests two paths below its URL", async () => {
    const asked: unknown[] = [];
    const { ask } = createTestTransport(async (url, init) => {
      asked.push([url, JSON.parse(String(init?.body))]);
      return Response.json({ tools: [] });
    });
    expect(await ask("tools/list")).toMatchObject({ result: { tools: [] } });
    await ask("tools/call", { name: "a" });
    expect(asked).toEqual([
      ["http://127.0.0.1:5000/api/tools/list", {}],
      ["http://127.0.0.1:5000/api/tools/call", { name: "a", arguments: {} }],
    ]);
  });

  it.each([
    [500, true],
    [429, true],
    [401, false],
    [302, false],
  ])("knows whether a status of %d is retryable", async (status, retryable) => {
    const { ask } = createTestTransport(async () => new Response(null, { status }));
    const error = {
      code: "mcp_disconnected",
      retryable,
      message: `The server at 127.0.0.1:5000 returned ${status} for /tools/list.`,
    };
    await expect(ask("tools/list")).rejects.toMatchObject(error);
  });

  it("aborts pending requests when it closes", async () => {
    const begun = Promise.withResolvers<void>();
    const { ask, close } = createTestTransport((_, init) => {
      begun.resolve();
      return new Promise((_resolve, reject) =>
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)),
      );
    });
    const asking = ask("tools/list");
    await begun.promise;
    await close();
    await expect(asking).rejects.toMatchObject({ name: "AbortError" });
  });
});
