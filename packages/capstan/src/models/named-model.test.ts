import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { defineAgent } from "../kernel/agent.ts";
import { run } from "../runtime/run.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { getNamedModel } from "./named-model.ts";

const asking = (model: string | string[]) =>
  run(defineAgent({ name: "a", model }), "Hi.", { clock: fakeClock({ skipUpToMs: 59_000 }) });

afterEach(() => vi.unstubAllEnvs());

describe("a named model", () => {
  it("has no client, and needs no key, until its first request (S1-22)", () => {
    vi.stubEnv("OPENAI_API_KEY", "");
    expect(getNamedModel("openai/gpt-5-mini")).toMatchObject({ id: "openai/gpt-5-mini" });
    expect(defineAgent({ name: "a", model: "openai/gpt-5-mini" }).models.main).toEqual(["openai/gpt-5-mini"]);
  });

  it.each([
    ["openai/gpt-5-mini", "OPENAI_API_KEY"],
    ["anthropic/claude-haiku-4-5", "ANTHROPIC_API_KEY"],
    ["gemini/gemini-3.5-flash", "GEMINI_API_KEY or GOOGLE_API_KEY"],
    ["vertex/gemini-3.5-flash", "GOOGLE_CLOUD_PROJECT"],
    ["azure/some-deployment", "AZURE_OPENAI_ENDPOINT or AZURE_RESOURCE_NAME"],
    ["groq/some-model", "GROQ_API_KEY"],
    ["openrouter/meta/some-model", "OPENROUTER_API_KEY"],
  ])("%s without its key names the variable to set (C-27)", async (name, variables) => {
    for (const variable of [...variables.split(" or "), "ANTHROPIC_AUTH_TOKEN"]) vi.stubEnv(variable, "");
    const result = await asking(name);
    expect(result).toMatchObject({ status: "failed", error: { code: "model_auth", retryable: false } });
    expect(result.text).toContain(`Set ${variables}`);
  });

  it.each([
    ["opanai/gpt-5", 'Unknown provider "opanai". Did you mean "openai"?'],
    ["gpt-5", 'Write the model as "provider/gpt-5".'],
    ["__proto__/x", 'Unknown provider "__proto__".'],
  ])("%s of an unknown provider is rejected with a hint (A117)", async (name, hint) => {
    const result = await asking(name);
    expect(result).toMatchObject({ status: "failed", error: { code: "model_not_found" } });
    expect(result.text).toContain(hint);
  });

  it("is called over HTTP, and the next model when it fails (C-27, F38)", async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"Hello from here."}}]}\n\n');
      response.end('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    vi.stubEnv("OLLAMA_HOST", `127.0.0.1:${(server.address() as AddressInfo).port}`);
    vi.stubEnv("OPENAI_API_KEY", "");
    const result = await asking(["openai/gpt-5-mini", "ollama/small"]);
    server.close();
    expect(result).toMatchObject({ status: "done", text: "Hello from here." });
  });

  it.each([
    ["litellm/team-model", "LITELLM_BASE_URL", "/v1", "LITELLM_API_KEY"],
    ["vllm/team-model", "VLLM_HOST", "", "VLLM_API_KEY"],
  ])("%s is at the address in %s, with a key only if one is set (C-27)", async (name, variable, path, key) => {
    const received: string[] = [];
    const server = createServer((request, response) => {
      received.push(`${request.url} ${request.headers.authorization ?? "no key"}`);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end('data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n');
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    vi.stubEnv(variable, `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
    for (const value of ["", "team-key-1234"]) {
      vi.stubEnv(key, value);
      await asking(name);
    }
    server.close();
    expect(received).toEqual(["/v1/chat/completions no key", "/v1/chat/completions Bearer team-key-1234"]);
  });
});
