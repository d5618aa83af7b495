import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, run } from "capstan";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { openModel } from "./open-model.ts";
import { writeTinyGguf } from "./testing/tiny-gguf.ts";
import { closingTokens } from "./testing/tiny-model.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "capstan-home-"));
  vi.stubEnv("CAPSTAN_HOME", home);
  await mkdir(join(home, "models"));
  await writeTinyGguf(join(home, "models", "tiny.gguf"), { preferred: closingTokens });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(home, { recursive: true });
});

it("a downloaded model answers as local/NAME, and is loaded once", async () => {
  const agent = defineAgent({
    name: "a",
    model: "local/tiny",
    settings: { seed: 1, effort: "none", maxOutputTokens: 4 },
  });
  const result = await run(agent, "Hello");
  expect(result.usage).toMatchObject({ outputTokens: expect.any(Number) });
  expect(result.status).not.toBe("failed");
  const model = await openModel("tiny");
  expect(await openModel("tiny")).toBe(model);
  await model.close();
});

it("a model that was not downloaded is a named error that says how to get it", async () => {
  const agent = defineAgent({ name: "a", model: "local/tyni" });
  const result = await run(agent, "Hello");
  expect(result).toMatchObject({ status: "failed", error: { code: "model_not_found" } });
  expect(result.text).toContain('Did you mean "tiny"?');
});
