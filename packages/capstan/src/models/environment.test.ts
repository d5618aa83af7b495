import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { listKeys } from "./environment.ts";

const listKeysIn = (keys: Record<string, string>) => listKeys((name) => keys[name]);

describe("the keys in the environment", () => {
  it("are those of model providers and Capstan's own (A110)", () => {
    const keys = { OPENAI_API_KEY: "sk-1234567", CAPSTAN_API_KEY: " cap-1234\n", OTHER_KEY: "other-123" };
    expect(listKeysIn(keys)).toEqual(["sk-1234567", "cap-1234"]);
  });

  it("exclude placeholder keys and values that are too short", () => {
    for (const word of ["ollama", "not-needed", "LM Studio", "EMPTY", "12345", ""])
      expect(listKeysIn({ OPENAI_API_KEY: word })).toEqual([]);
  });

  it("include every key that a model's client looks for (A110)", () => {
    const sources = globSync("**/*.ts", { cwd: import.meta.dirname }).filter(
      (file) => !/test\.ts$/.test(file),
    );
    const text = sources.map((file) => readFileSync(`${import.meta.dirname}/${file}`, "utf8")).join("");
    const names = new Set(text.match(/\b[A-Z_]+_(?:KEY|TOKEN)(?:_BEDROCK)?\b/g));
    expect(names).toContain("AWS_SESSION_TOKEN");
    expect(names).toContain("AWS_BEARER_TOKEN_BEDROCK");
    expect(names.size).toBeGreaterThan(10);
    for (const name of names) expect([name, ...listKeysIn({ [name]: "key-123" })]).toEqual([name, "key-123"]);
  });
});
