import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Router } from "wouter";
import { filterProfiled, getStartableAgents } from "../data/agents.ts";
import { ModelLine } from "./model-line.tsx";

const about = { name: "Capstan", version: "1", user: "", isAdmin: true, agents: [], eventViews: [] };
type Options = { readonly preferred?: string; readonly localModels?: readonly string[] };
function renderModelLine(
  model: string,
  isOffline: boolean,
  { preferred, localModels = [] }: Options = {},
): string {
  const props = { about: { ...about, model, isOffline }, preferred, localModels, onPrefer: () => undefined };
  return renderToStaticMarkup(
    <Router ssrPath="/">
      <ModelLine {...props} />
    </Router>,
  );
}

test("the offline model is labeled and explains how to use a real one", () => {
  const offline = renderModelLine("offline/rules", true);
  expect(offline).toContain("Offline model: rules, not AI.");
  for (const variable of ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"])
    expect(offline).toContain(variable);
  expect(offline).toMatch(/<details[^>]*><summary.*Use a real model/);
  expect(offline).toContain("restart Capstan");
  expect(offline).toContain('href="/models"');
  expect(offline).toContain("ollama pull");
  expect(renderModelLine("acme/wise", false)).toMatch(/Model: acme\/wise<\/p>$/);
});

test("instead of the offline model, one on the machine is offered; a real default model is not questioned", () => {
  const localModels = ["ollama/qwen3:4b", "local/tiny"];
  const one = renderModelLine("offline/rules", true, { localModels: localModels.slice(0, 1) });
  expect(one).toMatch(/ollama\/qwen3:4b<\/strong> is available on this machine/);
  expect(one).not.toContain("ollama pull");
  const two = renderModelLine("offline/rules", true, { localModels });
  expect(two).toContain("2 models are available on this machine");
  expect(two).toContain("<option");
  expect(renderModelLine("acme/wise", false, { localModels })).not.toContain("available");
  const preferred = renderModelLine("offline/rules", true, { localModels, preferred: "local/tiny" });
  expect(preferred).toContain("Model: local/tiny");
  expect(preferred).not.toContain("rules, not AI");
});

test("agents without a profile are specialists, unless none has one", () => {
  const [main, helper, clerk] = [
    { name: "main", title: "Main" },
    { name: "helper", suggestions: ["Help me"] },
    { name: "clerk", description: "Files." },
  ];
  expect(filterProfiled([main, clerk, helper])).toEqual([main, helper]);
  expect(getStartableAgents([main, clerk, helper])).toEqual([main, helper]);
  expect(getStartableAgents([clerk])).toEqual([clerk]);
});
