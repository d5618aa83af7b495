import { describe, expect, it } from "vitest";
import { keyState } from "./providers.ts";

describe("the state of a provider's key", () => {
  it.each([
    ["openai/gpt-5-mini", {}, { type: "missing", variables: ["OPENAI_API_KEY"] }],
    ["azure/our-gpt", { AZURE_OPENAI_API_KEY: "k" }, { type: "set", variable: "AZURE_OPENAI_API_KEY" }],
    ["bedrock/x", {}, { type: "external", source: "the credential chain of AWS" }],
    ["bedrock/x", { AWS_SECRET_ACCESS_KEY: "k" }, { type: "set", variable: "AWS_SECRET_ACCESS_KEY" }],
    ["vertex/x", {}, { type: "external", source: "Google's application-default credentials" }],
    ["ollama/x", {}, { type: "not_needed" }],
    ["other/x", {}, { type: "unknown_provider" }],
  ])("of %s with %j is %j", (model, env, state) => {
    expect(keyState(model, env)).toEqual(state);
  });
});
