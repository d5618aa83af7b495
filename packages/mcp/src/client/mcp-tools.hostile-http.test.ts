import { expect, it } from "vitest";
import { openStream, startRawHttpServer, writeEvent, writeRepeatedly } from "./testing/raw-http-server.ts";
import { callTestTool, findStatus, findTool, runCall, withServers } from "./testing/test-servers.ts";

const megabyte = "x".repeat(1024 * 1024);
const createTextMessage = (id: unknown, text: string) => ({
  jsonrpc: "2.0",
  id,
  result: { content: [{ type: "text", text }] },
});

/** Answers of 100 MB, in the two forms that an answer has, and a small one. */
const createHugeServer = () =>
  startRawHttpServer({
    tools: ["json", "event", "small"],
    async call({ id, tool, response }) {
      if (tool === "small") {
        openStream(response);
        writeEvent(response, "1", createTextMessage(id, "small"));
        return response.end();
      }
      if (tool === "event") openStream(response);
      else response.writeHead(200, { "content-type": "application/json" });
      response.write(`${tool === "event" ? "data: " : ""}{"jsonrpc":"2.0","id":${id},"result":{"content":"`);
      await writeRepeatedly(response, megabyte, 100);
      return response.end();
    },
  });

it.each([
  "json",
  "event",
])("a response of 100 MB over HTTP (%s) is capped and fails the call with a code (A53, F61)", async (tool) => {
  const server = await createHugeServer();
  try {
    await withServers({ huge: { url: server.url, timeout: 60_000 } }, async (mcp) => {
      const before = process.memoryUsage().rss;
      const { answer, entry } = await runCall(mcp, `mcp_huge_${tool}`);
      expect(answer).toBe("It is error.");
      expect(entry.error?.code).toBe(tool === "json" ? "mcp_protocol" : "mcp_disconnected");
      expect(entry.error?.message).toContain("larger than 10485760 bytes");
      expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
      expect((await runCall(mcp, "mcp_huge_small")).entry.content).toBe("small");
      expect(findStatus(mcp, "huge").state).toBe("ready");
    });
  } finally {
    await server.close();
  }
});

it("a response whose stream is cut is resumed after the last event and delivered once (F66)", async () => {
  let waiting: unknown;
  const server = await startRawHttpServer({
    tools: ["long"],
    call({ id, response }) {
      waiting = id;
      openStream(response);
      writeEvent(response, "1");
      writeEvent(response, "2", {
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken: id, progress: 1 },
      });
      setTimeout(() => response.destroy(), 100);
    },
    resume(_, response) {
      writeEvent(response, "3", createTextMessage(waiting, "the result"));
      writeEvent(response, "4", createTextMessage(waiting, "the result again"));
      response.end();
    },
  });
  try {
    await withServers({ cut: { url: server.url, timeout: 60_000 } }, async (mcp) => {
      const progress: unknown[] = [];
      const result = await callTestTool(
        findTool(mcp, "mcp_cut_long"),
        {},
        { progress: (data) => void progress.push(data) },
      );
      expect(result).toEqual({ content: "the result" });
      expect(server.resumed).toEqual(["2"]);
      expect(progress).toHaveLength(1);
      expect(findStatus(mcp, "cut").state).toBe("ready");
    });
  } finally {
    await server.close();
  }
});

it("a response whose stream is cut and cannot be resumed fails the call with a code in time (F66)", async () => {
  const server = await startRawHttpServer({
    tools: ["cut"],
    call({ response }) {
      openStream(response);
      response.write(": nothing yet\n\n");
      setTimeout(() => response.destroy(), 100);
    },
  });
  try {
    await withServers({ cut: { url: server.url, timeout: 5_000 } }, async (mcp) => {
      const { answer, entry } = await runCall(mcp, "mcp_cut_cut");
      expect([answer, entry.error?.code]).toEqual(["It is error.", "mcp_disconnected"]);
    });
  } finally {
    await server.close();
  }
});
