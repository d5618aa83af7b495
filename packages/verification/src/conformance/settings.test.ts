import type { ModelRequest, ModelSettings } from "capstan";
import { expect, it } from "vitest";
import { type CheckedApi, checkedApis } from "./apis.ts";
import { captureRequest } from "./capture-request.ts";

/** One setting each, with a value that asks for something. */
const samples: readonly ModelSettings[] = [
  ...(["low", "medium", "high", 3000] as const).map((effort) => ({ effort })),
  ...[{ temperature: 0.5 }, { topP: 0.5 }, { stop: "END" }, { seed: 7 }, { maxOutputTokens: 500 }],
  ...[{ toolChoice: "required" as const }, { toolChoice: { tool: "look" } }, { parallelToolCalls: false }],
  ...["default", "flex", "priority"].map((serviceTier) => ({ serviceTier })),
  ...[{ cache: "off" as const }, { cache: "long" as const }, { logprobs: true }, { logprobs: 3 }],
];

const request: ModelRequest = {
  ...{
    instructions: "Be brief.",
    history: [{ type: "user", content: "?" }],
    toolChoice: "auto",
    thinking: false,
  },
  tools: [{ name: "look", description: "Looks", input: { type: "object", properties: {} } }],
};

async function send(
  api: CheckedApi,
  model: string,
  { toolChoice = "auto", ...settings }: ModelSettings = {},
) {
  const createModel = (fetch: typeof globalThis.fetch) => api.createModel({ model, fetch });
  return JSON.stringify((await captureRequest(createModel, { ...request, toolChoice, settings })).body);
}

const cases = checkedApis.flatMap((api) => api.models.map((model) => ({ api, name: api.name, model })));

it.each(cases)("what $name sends to $model agrees with the settings that it reports as ignored", async ({
  api,
  model,
}) => {
  const plain = await send(api, model);
  const client = api.createModel({ model, fetch });
  for (const settings of samples) {
    const problems = client.checkSettings?.(settings) ?? [];
    const isSent = (await send(api, model, settings)) !== plain;
    // A problem may say what is used instead.
    const isExpected = problems.every(({ message, isError }) => !isError && / used\b/.test(message));
    expect([settings, isSent], problems.map(({ message }) => message).join(" ")).toEqual([
      settings,
      isExpected,
    ]);
  }
});
