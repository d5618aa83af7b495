import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { defaultModel } from "./default-model.ts";

const variables = [
  ...["CAPSTAN_MODEL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
  ...["GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY"],
  ...["AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "AZURE_RESOURCE_NAME", "AZURE_OPENAI_DEPLOYMENT"],
  ...["GOOGLE_CLOUD_PROJECT", "GOOGLE_ACCESS_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG"],
  ...["APPDATA", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID"],
  "AWS_SECRET_ACCESS_KEY",
];
const folder = mkdtempSync(join(tmpdir(), "capstan-gcloud-"));
afterAll(() => rmSync(folder, { recursive: true }));
const nobody = { fetch: async () => Promise.reject(new TypeError("fetch failed")) };
const ollama = (...names: string[]) => ({
  fetch: async () => Response.json({ models: names.map((name) => ({ name })) }),
});

beforeEach(() => {
  for (const variable of variables) vi.stubEnv(variable, "");
  vi.stubEnv("HOME", join(folder, "nobody"));
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

  it("is a cloud that is set up, after the providers with a key: Azure, Vertex, Bedrock", async () => {
    const getId = async () => (await defaultModel(ollama("local"))).id;
    vi.stubEnv("AWS_REGION", "us-east-1");
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKID");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "for-other-services");
    expect(await getId()).toBe("ollama/local");
    vi.stubEnv("AWS_BEARER_TOKEN_BEDROCK", "key");
    expect(await getId()).toBe("bedrock/global.anthropic.claude-haiku-4-5-20251001-v1:0");
    vi.stubEnv("GOOGLE_CLOUD_PROJECT", "p");
    expect(await getId()).toMatch(/^bedrock/);
    vi.stubEnv("GOOGLE_ACCESS_TOKEN", "t");
    expect(await getId()).toBe("vertex/gemini-3.5-flash");
    vi.stubEnv("GOOGLE_CLOUD_PROJECT", "");
    expect(await getId()).toMatch(/^bedrock/); // a token names no project
    vi.stubEnv("GOOGLE_CLOUD_PROJECT", "p");
    vi.stubEnv("AZURE_OPENAI_API_KEY", "key");
    vi.stubEnv("AZURE_RESOURCE_NAME", "r");
    expect(await getId()).toMatch(/^vertex/);
    vi.stubEnv("AZURE_OPENAI_DEPLOYMENT", "our-gpt");
    expect(await getId()).toBe("azure/our-gpt");
    vi.stubEnv("OPENROUTER_API_KEY", "key");
    expect(await getId()).toMatch(/^openrouter/);
  });

  it.each([
    ["GOOGLE_APPLICATION_CREDENTIALS", "key.json", "key.json"],
    ["CLOUDSDK_CONFIG", "", "application_default_credentials.json"],
    ["HOME", "", ".config/gcloud/application_default_credentials.json"],
  ])("is Vertex with the file of %s, if it exists and a project is known (S4-67)", async (variable, value, file) => {
    const home = join(folder, variable);
    const getId = async () => (await defaultModel(nobody)).id;
    const write = (content: object) => writeFileSync(join(home, file), JSON.stringify(content));
    vi.stubEnv(variable, join(home, value));
    expect(await getId()).toMatch(/^offline/);
    mkdirSync(dirname(join(home, file)), { recursive: true });
    write({ type: "authorized_user" });
    expect(await getId()).toMatch(/^offline/);
    for (const project of [{ project_id: "own" }, { quota_project_id: "paying" }]) {
      write(project);
      expect(await getId()).toBe("vertex/gemini-3.5-flash");
    }
    write({});
    vi.stubEnv("GOOGLE_CLOUD_PROJECT", "p");
    expect(await getId()).toBe("vertex/gemini-3.5-flash");
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
