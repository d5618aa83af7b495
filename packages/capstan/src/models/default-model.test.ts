import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { defaultModel } from "./default-model.ts";

const variables = [
  ...["CAPSTAN_MODEL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
  ...["GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY"],
];
const nobody = { fetch: async () => Promise.reject(new TypeError("fetch failed")) };
const ollama = (...names: string[]) => ({
  fetch: async () => Response.json({ models: names.map((name) => ({ name })) }),
});

beforeEach(() => {
  for (const variable of variables) vi.stubEnv(variable, "");
});
afterEach(() => vi.unstubAllEnvs());

describe("the default model", () => {
  it("is the first provider with a key, without network requests (C-27)", async () => {
    let asked = 0;
    const counting = { fetch: async () => Promise.reject(new Error(String(++asked))) };
    vi.stubEnv("GEMINI_API_KEY", "g");
    expect((await defaultModel(counting)).id).toBe("gemini/gemini-3.5-flash");
    vi.stubEnv("ANTHROPIC_API_KEY", "a");
    expect((await defaultModel(counting)).id).toBe("anthropic/claude-haiku-4-5");
    vi.stubEnv("OPENAI_API_KEY", "o");
    expect((await defaultModel(counting)).id).toBe("openai/gpt-5-mini");
    expect(asked).toBe(0);
  });

  it("is a local Ollama that answers, when there is no key (C-27, S2-38)", async () => {
    expect((await defaultModel(ollama("llama3.2:3b", "other"))).id).toBe("ollama/llama3.2:3b");
  });

  it("is a model of another local server, when Ollama is not running (C-27)", async () => {
    const lmStudio = async (url: string | URL | Request) =>
      String(url).includes(":1234/")
        ? Response.json({ data: [{ id: "qwen3-4b", type: "llm" }] })
        : Promise.reject(new TypeError("fetch failed"));
    expect((await defaultModel({ fetch: lmStudio })).id).toBe("lmstudio/qwen3-4b");
  });

  it("is the offline model when there is neither, also when something else answers there (C-27)", async () => {
    expect((await defaultModel(nobody)).id).toMatch(/^offline/);
    expect((await defaultModel(ollama())).id).toMatch(/^offline/);
    expect((await defaultModel({ fetch: async () => new Response("<html>") })).id).toMatch(/^offline/);
  });

  it("is the one named by CAPSTAN_MODEL, before all others", async () => {
    vi.stubEnv("OPENAI_API_KEY", "o");
    vi.stubEnv("CAPSTAN_MODEL", "groq/fast");
    expect((await defaultModel(nobody)).id).toBe("groq/fast");
    vi.stubEnv("CAPSTAN_MODEL", "offline");
    expect((await defaultModel(nobody)).id).toMatch(/^offline/);
  });
});
