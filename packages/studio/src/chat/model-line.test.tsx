import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Router } from "wouter";
import { beginners, introduced } from "../data/agents.ts";
import { ModelLine } from "./model-line.tsx";

const about = { name: "Capstan", version: "1", user: "", isAdmin: true, agents: [] };
const shown = (model: string, isOffline: boolean) =>
  renderToStaticMarkup(
    <Router ssrPath="/">
      <ModelLine about={{ ...about, model, isOffline }} />
    </Router>,
  );

test("the offline model says that it is none, and how to have a real one", () => {
  const offline = shown("offline/rules", true);
  expect(offline).toContain("Offline model: rules, not AI.");
  for (const variable of ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"])
    expect(offline).toContain(variable);
  expect(offline).toMatch(/<details[^>]*><summary.*Use a real model/);
  expect(offline).toContain("start it again");
  expect(offline).toContain('href="/models"');
  expect(shown("acme/wise", false)).toMatch(/acme\/wise answers\.<\/p>$/);
});

test("who is not introduced is a specialist, unless nobody is", () => {
  const [main, helper, clerk] = [
    { name: "main", title: "Main" },
    { name: "helper", suggestions: ["Help me"] },
    { name: "clerk", description: "Files." },
  ];
  expect(introduced([main, clerk, helper])).toEqual([main, helper]);
  expect(beginners([main, clerk, helper])).toEqual([main, helper]);
  expect(beginners([clerk])).toEqual([clerk]);
});
