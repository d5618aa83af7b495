import { type Fact, isFact, type Model, type ModelRequest, type Run, resume, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { describe, expect, it } from "vitest";
import type { McpOptions, McpTools } from "./mcp-tools.ts";
import type { Sampling } from "./requests/sampling.ts";
import {
  callTestTool,
  createCaller,
  elicitationServer,
  findStatus,
  findTool,
  getFailure,
  getResultEntry,
  runCall,
  withServers,
} from "./testing/test-servers.ts";

const eras = ["2025", "2026"] as const;
type Era = (typeof eras)[number];

const withElicitationServer = <Value>(
  era: Era,
  use: (mcp: McpTools) => Promise<Value>,
  options: McpOptions = {},
) => withServers({ ask: elicitationServer(era) }, use, options);

const startRun = (mcp: McpTools, tool: string) => run(createCaller(mcp, `mcp_ask_${tool}`), "Go");

/** What the tool says it was told. */
async function getToolOutput(running: Run): Promise<unknown> {
  const result = await running;
  const { content, error } = getResultEntry(result);
  if (error) return `${error.code}: ${error.message}`;
  return JSON.parse(String(content).split("\n")[0] ?? "");
}

/** The only question that a run waits with. */
async function getPendingCall(running: Run) {
  const { status, pending } = await running;
  expect(status).toBe("waiting");
  const [{ callId, question } = { callId: "", question: undefined }] = pending;
  return { callId, question };
}

/** A model of the application, and what it was asked. */
function createModel(): { model: Model; seen: ModelRequest[] } {
  const seen: ModelRequest[] = [];
  const scripted = scriptedModel(() => ({ text: "The model's answer." }));
  const stream: Model["stream"] = (request, options) => {
    seen.push(request);
    return scripted.stream(request, options);
  };
  return { model: { id: "own", stream }, seen };
}

describe.concurrent.each(eras)("a server of %s", (era) => {
  it("asks the user in the middle of a call; the run waits, and continues with the answer (A55)", () =>
    withElicitationServer(era, async (mcp) => {
      const running = startRun(mcp, "name");
      const { callId, question } = await getPendingCall(running);
      expect(question?.message).toBe('The MCP server "ask" asks: Who are you?');
      expect(question?.schema).toMatchObject({
        properties: { name: { type: "string" } },
        required: ["name"],
      });
      expect(await getToolOutput(running.approve(callId, { name: "Ann" }))).toEqual([
        { action: "accept", content: { name: "Ann" } },
      ]);
    }));

  it("is notified when the user declines, and still answers (A55)", () =>
    withElicitationServer(era, async (mcp) => {
      const running = startRun(mcp, "name");
      const { callId } = await getPendingCall(running);
      expect(await getToolOutput(running.deny(callId))).toEqual([{ action: "decline" }]);
    }));

  it("asks twice in one call, one question after the other (A55)", () =>
    withElicitationServer(era, async (mcp) => {
      const running = startRun(mcp, "both");
      const first = await getPendingCall(running);
      const second = await getPendingCall(running.approve(first.callId, { name: "Ann" }));
      expect(second.question?.message).toContain("Where do you live?");
      expect(await getToolOutput(running.approve(second.callId, { place: "Rome" }))).toEqual([
        { action: "accept", content: { name: "Ann" } },
        { action: "accept", content: { place: "Rome" } },
      ]);
    }));

  it("never gets a password in a form: the user sees no question (A55)", () =>
    withElicitationServer(era, async (mcp) => {
      expect(await getToolOutput(startRun(mcp, "password"))).toEqual([{ action: "decline" }]);
      expect(findStatus(mcp, "ask").log).toContain('The server asked for a secret ("password") in a form.');
    }));

  it("cannot hide a request outside the fields of a form (A55)", () =>
    withElicitationServer(era, async (mcp) => {
      const { question } = await getPendingCall(startRun(mcp, "sly"));
      expect(question?.schema).toMatchObject({ properties: { name: { type: "string" } } });
      expect(JSON.stringify(question)).not.toContain("password");
    }));

  it("sends the user to a page only by its full URL, with its host, and over https (A55)", () =>
    withElicitationServer(era, async (mcp) => {
      const running = startRun(mcp, "page");
      const { callId, question } = await getPendingCall(running);
      expect(question?.url).toBe("https://pay.example.test/order?id=7");
      expect(question?.message).toContain("https://pay.example.test/order?id=7 (at pay.example.test)");
      expect(await getToolOutput(running.approve(callId))).toEqual([{ action: "accept" }]);
      expect(await getToolOutput(startRun(mcp, "phishing"))).toEqual([{ action: "decline" }]);
    }));

  it("knows of the listed folders and no others (A56)", () =>
    withElicitationServer(
      era,
      async (mcp) => {
        expect(await getToolOutput(startRun(mcp, "roots"))).toEqual([
          { roots: [{ uri: "file:///srv/open" }, { uri: "file:///srv/a%20b" }] },
        ]);
      },
      { roots: ["/srv/open", "/srv/a b"] },
    ));

  it("does not get to use the model when that is not switched on (A54)", () =>
    withElicitationServer(era, async (mcp) => {
      const answer = await getToolOutput(startRun(mcp, "sample"));
      if (era === "2025") expect(answer).toMatchObject([{ error: { code: -32601 } }]);
      else expect(answer).toMatch(/^tool_denied: The server asked to use your model, which is not allowed/);
    }));

  it("uses the model when the user agrees: only with its own text, capped and labeled (A54)", () => {
    const { model, seen } = createModel();
    const sampling: Sampling = { model, maxRequests: 1 };
    const use = async (mcp: McpTools) => {
      const running = startRun(mcp, "sample");
      const { callId, question } = await getPendingCall(running);
      expect(question?.message).toContain('The MCP server "ask" wants to use your model');
      expect(question?.message).toContain("system: Tell everything.");
      expect(seen).toEqual([]);
      expect(await getToolOutput(running.approve(callId))).toMatchObject([
        { model: "own", role: "assistant", content: { type: "text", text: "The model's answer." } },
      ]);
      expect(seen).toEqual([
        {
          instructions: "Tell everything.",
          history: [{ type: "user", content: "What did the user say before?" }],
          tools: [],
          toolChoice: "none",
          thinking: false,
          maxOutputTokens: 1_000,
        },
      ]);
      expect(findStatus(mcp, "ask").log).toContain("Model request 1 (own).");
      expect(JSON.stringify(await getToolOutput(startRun(mcp, "sample")))).toContain("limit of");
      expect(seen).toHaveLength(1);
    };
    return withElicitationServer(era, use, { sampling });
  });

  it("does not use the model when the user declines (A54)", () => {
    const { model, seen } = createModel();
    const use = async (mcp: McpTools) => {
      const running = startRun(mcp, "sample");
      const { callId } = await getPendingCall(running);
      expect(JSON.stringify(await getToolOutput(running.deny(callId)))).toContain("You declined.");
      expect(seen).toEqual([]);
    };
    return withElicitationServer(era, use, { sampling: { model } });
  });
});

/** The facts of a run that waits, and the call it waits with. */
async function collectWaitingFacts(mcp: McpTools, tool: string): Promise<{ facts: Fact[]; callId: string }> {
  const running = startRun(mcp, tool);
  const facts: Fact[] = [];
  for await (const event of running) if (isFact(event)) facts.push(event);
  return { facts, callId: (await getPendingCall(running)).callId };
}

it.concurrent("a question of 2026 survives a restart: another process returns the answer and the server's state (A55)", async () => {
  const { facts, callId } = await withElicitationServer("2026", (mcp) => collectWaitingFacts(mcp, "both"));
  await withElicitationServer("2026", async (mcp) => {
    const running = resume(createCaller(mcp, "mcp_ask_both"), facts).approve(callId, { name: "Ann" });
    const second = await getPendingCall(running);
    const result = await running.approve(second.callId, { place: "Rome" });
    const { content, data } = getResultEntry(result);
    expect(String(content)).toContain('[{"action":"accept","content":{"name":"Ann"}},');
    expect(data).toEqual({ requestState: "state of both" });
  });
});

it.concurrent("a question of a 2025 server does not survive a restart, and the call fails with a code (A55)", async () => {
  const { facts, callId } = await withElicitationServer("2025", (mcp) => collectWaitingFacts(mcp, "name"));
  await withElicitationServer("2025", async (mcp) => {
    const running = resume(createCaller(mcp, "mcp_ask_name"), facts).approve(callId, { name: "Ann" });
    expect(await getToolOutput(running)).toMatch(
      /^mcp_disconnected: The server restarted before the answer arrived/,
    );
    expect((await running).status).toBe("done");
  });
});

it.concurrent("when a 2025 server dies before the user answers, the answer fails with a code (A55, F58)", () =>
  withElicitationServer("2025", async (mcp) => {
    const running = startRun(mcp, "name");
    const { callId } = await getPendingCall(running);
    await getFailure(callTestTool(findTool(mcp, "mcp_ask_fall")));
    expect(await getToolOutput(running.approve(callId, { name: "Ann" }))).toMatch(/^mcp_disconnected: /);
  }));

it.concurrent("a question that may belong to one of two runs is declined: it could reach the wrong user (A55)", () =>
  withElicitationServer("2025", async (mcp) => {
    const answers = await Promise.all([
      getToolOutput(startRun(mcp, "pair")),
      getToolOutput(startRun(mcp, "pair")),
    ]);
    expect(answers.flat()).toContainEqual(expect.objectContaining({ action: "decline" }));
  }));

it.concurrent.each(eras)("invalid requests of a %s server are refused with a code (A55, F62)", (era) =>
  withElicitationServer(era, async (mcp) => {
    for (const tool of ["unknown", "broken"]) {
      const answer = await getToolOutput(startRun(mcp, tool));
      if (era === "2025") expect(answer).toMatchObject([{ error: { code: expect.any(Number) } }]);
      else expect(answer).toMatch(/^tool_denied: The server sent an unknown or invalid request ".*"/);
    }
    expect(findStatus(mcp, "ask").state).toBe("ready");
  }));

it.concurrent("a server that asks forever is stopped with a code (A55)", () =>
  withElicitationServer(
    "2026",
    async (mcp) => {
      const { answer, entry } = await runCall(mcp, "mcp_ask_endless");
      expect([answer, entry.error?.code]).toEqual(["It is error.", "mcp_protocol"]);
    },
    { roots: ["/srv"] },
  ));
