import { defineAgent } from "capstan";
import { scriptedModel } from "capstan/testing";
import { afterEach, describe, expect, it } from "vitest";
import { createTestServer, type TestServer } from "../testing/test-server.ts";
import { toClientError } from "./client-error.ts";

let server: TestServer;
afterEach(() => server?.close(0));

type Logged = { readonly message: string; readonly id: string };

/** A server whose model fails, its log, and a user who is not an admin. */
async function serveFailing(model = scriptedModel(() => ({ error: new Error("sk-secret at 10.0.0.1") }))) {
  const log: Logged[] = [];
  const policy = { retry: { maxAttempts: 1 } };
  server = createTestServer({
    agents: [defineAgent({ name: "helper", model, policy })],
    onError: (error, id) => log.push({ message: String(error), id }),
  });
  const { secret } = await server.keys.create({ user: "ada" });
  const ask = async (path: string, body: object, method = "POST") =>
    (
      await server.send(method, path, method === "GET" ? undefined : body, {
        authorization: `Bearer ${secret}`,
      })
    ).text();
  return { log, ask };
}

const messages = [{ role: "user", content: "Hello" }];
const uiMessages = [{ id: "m1", role: "user", parts: [{ type: "text", text: "Hello" }] }];

describe("a run that fails inside of the server", () => {
  it.each([
    ["/v1/chat/completions", { model: "helper", messages }],
    ["/v1/chat/completions", { model: "helper", messages, stream: true }],
    ["/v1/responses", { model: "helper", input: "Hello" }],
    ["/v1/responses", { model: "helper", input: "Hello", store: false, stream: true }],
    ["/api/chat", { messages }],
    ["/api/ui/chat", { id: "chat-1", trigger: "submit-message", messages: uiMessages }],
  ])("is reported at %s with the id of its one log entry (A94)", async (path, body) => {
    const { log, ask } = await serveFailing();
    const said = await ask(path, body);
    expect(log).toHaveLength(1);
    expect(log[0]?.message).toContain("10.0.0.1");
    expect(log[0]?.id).toMatch(/^err_./);
    expect(said).toContain(`under ${log[0]?.id}.`);
    expect(said).not.toContain("10.0.0.1");
  });

  it("is in the log once, however often it is read (A94)", async () => {
    const { log, ask } = await serveFailing();
    const { error } = JSON.parse(await ask("/v1/responses", { model: "helper", input: "Hello" }));
    expect(error.message).toContain(`${log[0]?.id}`);
    const { runs } = JSON.parse(await ask("/api/runs", {}, "GET"));
    for (let turn = 0; turn < 3; turn++)
      expect(await ask(`/v1/responses/resp_${runs[0].runId}`, {}, "GET")).not.toContain("10.0.0.1");
    expect(log).toHaveLength(1);
  });

  it("is not in the log when it has only come to a limit (A94)", async () => {
    const { log, ask } = await serveFailing(scriptedModel(() => ({ text: "Hi", finish: "content_filter" })));
    await ask("/api/chat", { messages });
    expect(log).toEqual([]);
  });
});

it("an answer that does not fit its schema is called that (A94)", () => {
  const error = { code: "output_invalid", message: "at /boats: must be a number, not sk-secret" };
  const { message } = toClientError(error, { isAdmin: false }, "run_1");
  expect(message).toContain("does not match the required schema");
  expect(message).not.toContain("sk-secret");
  expect(toClientError(error, { isAdmin: true }, "run_1")).toEqual(error);
});
