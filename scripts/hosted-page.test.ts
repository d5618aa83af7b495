// Compares the table of docs/hosted-tools.md with the models' own answers.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineAgent, type HostedKind, hostedTools, type Tool } from "capstan";
import { openai } from "capstan/models/openai";
import { describe, expect, it } from "vitest";

const page = readFileSync(join(import.meta.dirname, "../docs/hosted-tools.md"), "utf8");
const [header = "", , ...lines] = (page.slice(page.indexOf("| `hostedTools.`")).split("\n\n")[0] ?? "").split(
  "\n",
);
const split = (line: string): readonly string[] =>
  line
    .split("|")
    .map((cell) => cell.trim())
    .slice(1, -1);

const models: Readonly<Record<string, Parameters<typeof defineAgent>[0]["model"]>> = {
  "OpenAI (Responses)": "openai/gpt-5",
  "OpenAI (chat)": openai({ model: "gpt-5-search-api", api: "chat", apiKey: "k" }),
  Anthropic: "anthropic/claude-opus-4-6",
  Gemini: "gemini/gemini-3-pro",
};
const values: Readonly<Record<string, unknown>> = {
  ...{ allowedDomains: ["a.org"], blockedDomains: ["b.org"], maxUses: 1, userLocation: { city: "Oslo" } },
  ...{ stores: ["s"], maxResults: 3, size: "1024x1024", quality: "low", format: "png" },
  ...{ label: "docs", url: "https://docs.example", allowedTools: ["read"], approval: "never", token: "t" },
  ...{ displayWidth: 800, displayHeight: 600, environment: "browser" },
};
const required: Readonly<Partial<Record<string, readonly string[]>>> = {
  fileSearch: ["stores"],
  mcp: ["label", "url", "approval"],
  computer: ["displayWidth", "displayHeight"],
};

function accepts(
  model: Parameters<typeof defineAgent>[0]["model"],
  kind: string,
  options: readonly string[],
): boolean {
  const all = [...(required[kind] ?? []), ...options].map((option) => [option, values[option]]);
  const create = hostedTools[kind as HostedKind] as (given: object) => Tool;
  const tool = create({ ...Object.fromEntries(all), ...(kind === "computer" && { execute: () => "" }) });
  try {
    defineAgent({ name: "a", model, tools: [tool] });
    return true;
  } catch {
    return false;
  }
}

describe("the table of docs/hosted-tools.md", () => {
  it("has a row for every kind", () => {
    expect(lines.map((line) => split(line)[0])).toEqual(
      Object.keys(hostedTools).map((kind) => `\`${kind}\``),
    );
  });

  it.each(lines.map(split))("%s is available as it says", (name = "", options = "", ...cells) => {
    const kind = name.replaceAll("`", "");
    const all = [...options.matchAll(/`(\w+)`/g)].map(([, option = ""]) => option);
    for (const [index, provider] of split(header).slice(2).entries()) {
      const model = models[provider] ?? "";
      const cell = cells[index] ?? "";
      const listed = [...cell.matchAll(/`(\w+)`/g)].map(([, option = ""]) => option);
      const expected = cell === "all" ? all : listed;
      expect([provider, accepts(model, kind, [])]).toEqual([provider, cell !== "–"]);
      if (cell !== "–")
        expect([provider, all.filter((option) => accepts(model, kind, [option]))]).toEqual([
          provider,
          expected,
        ]);
    }
  });
});
