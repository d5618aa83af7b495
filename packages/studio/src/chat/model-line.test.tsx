import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Router } from "wouter";
import { filterProfiled, getStartableAgents } from "../data/agents.ts";
import { ModelLine } from "./model-line.tsx";

const about = { name: "Capstan", version: "1", user: "", isAdmin: true, agents: [], eventViews: [] };
const renderModelLine = (model: string, isOffline: boolean) =>
  renderToStaticMarkup(
    <Router ssrPath="/">
      <ModelLine about={{ ...about, model, isOffline }} />
    </Router>,
  );

test("the offline model is labeled and explains how to use a real one", () => {
  const offline = renderModelLine("offline/rules", true);
  expect(offline).toContain("Offline model: rules, not AI.");
  for (const variable of ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"])
    expect(offline).toContain(variable);
  expect(offline).toMatch(/<details[^>]*><summary.*Use a real model/);
  expect(offline).toContain("restart Capstan");
  expect(offline).toContain('href="/models"');
  expect(renderModelLine("acme/wise", false)).toMatch(/Model: acme\/wise<\/p>$/);
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
