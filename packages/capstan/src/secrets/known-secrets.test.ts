import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { knownSecrets } from "./known-secrets.ts";

describe("the secrets of a run", () => {
  const withKeys = (keys: Record<string, string>) => knownSecrets(["given-1"], (name) => keys[name]);

  it("are those given and the keys of model providers in the environment (A110)", () => {
    const keys = { OPENAI_API_KEY: "sk-1234567", CAPSTAN_API_KEY: " cap-1234\n", OTHER_KEY: "other-123" };
    expect(withKeys(keys)).toEqual(["given-1", "sk-1234567", "cap-1234"]);
    expect(withKeys({ GEMINI_API_KEY: "AIza12345", GOOGLE_API_KEY: "AIza12345" })).toEqual([
      "given-1",
      "AIza12345",
    ]);
  });

  it("are not words that stand for a key where none is needed, nor what is too short to be one", () => {
    for (const word of ["ollama", "not-needed", "LM Studio", "EMPTY", "12345", ""])
      expect(withKeys({ OPENAI_API_KEY: word })).toEqual(["given-1"]);
  });

  it("are none when there are none", () => {
    expect(knownSecrets([], () => undefined)).toEqual([]);
  });

  it("include every key that a model's client looks for (A110)", () => {
    const folder = `${import.meta.dirname}/../models`;
    const sources = ["named-model.ts", "openai.ts", "anthropic.ts", "gemini.ts", "default-model.ts"];
    const text = sources.map((file) => readFileSync(`${folder}/${file}`, "utf8")).join("");
    const names = new Set(text.match(/\b[A-Z_]+_(?:KEY|TOKEN)\b/g));
    expect(names.size).toBeGreaterThan(10);
    for (const name of names)
      expect([name, ...knownSecrets([], (asked) => (asked === name ? "key-123" : undefined))]).toEqual([
        name,
        "key-123",
      ]);
  });
});
