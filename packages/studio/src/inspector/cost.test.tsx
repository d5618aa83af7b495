import { defineAgent, defineTool, type Fact, run, type Usage } from "capstan";
import { buildView, emptyView } from "capstan/client";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test, vi } from "vitest";
import { buildItems } from "../chat/messages/build-items.ts";
import type { OpenSession } from "../data/open-session.ts";
import { formatTokenUsage } from "./format-facts.ts";
import { RunMeter } from "./run-meter.tsx";
import { buildTimeline } from "./timeline/build-timeline.ts";

const counts = { inputTokens: 2000, outputTokens: 10 };

function renderMeter(usage: Usage): string {
  const session = { facts: [], view: { ...emptyView, usage } };
  return renderToStaticMarkup(<RunMeter session={session as unknown as OpenSession} />);
}

test("the meter shows an unknown price as unknown, a partial one as a lower bound, and none as none", () => {
  expect(renderMeter({ ...counts, unpriced: true })).toContain(">unknown<");
  expect(renderMeter({ ...counts, unpriced: true, cost: 2 })).toContain(">≥ $2.00<");
  expect(renderMeter({ ...counts, cost: 2 })).toContain(">$2.00<");
  expect(renderMeter(counts)).toContain(">–<");
});

test("usage is shown with what was read from and written to the cache", () => {
  expect(renderMeter({ ...counts, cachedTokens: 500, cacheWriteTokens: 1200 })).toContain(
    'title="500 of 2,000 tokens sent, 1,200 written to the cache"',
  );
  expect(formatTokenUsage({ ...counts, cachedTokens: 500, cacheWriteTokens: 1200, unpriced: true })).toBe(
    "2,000 in (25 % cached, 1,200 written to the cache) · 10 out · price unknown",
  );
});

async function loseCache(): Promise<readonly Fact[]> {
  const usage = { ...counts, cachedTokens: 0 };
  const look = defineTool({ name: "look", description: "Looks", input: {}, execute: () => "seen" });
  const agent = defineAgent({
    name: "helper",
    model: scriptedModel([
      { calls: [{ name: "look" }], usage },
      { text: "Done.", usage },
    ]),
    instructions: ({ turn }) => `It is 10:0${turn}.`,
    tools: [look],
  });
  const store = memory();
  await run(agent, "Go", { store, session: "cost" });
  return store.read("cost");
}

test("the cause of a lost cache is in the inspector and not in the chat", async () => {
  const facts = await loseCache();
  const warning = facts.find((fact) => fact.type === "warning");
  expect(warning).toMatchObject({ code: "cache_prefix_changed", turn: 2 });
  expect(JSON.stringify(buildTimeline(facts))).toContain("differ in a date or time");
  expect(buildItems(buildView(facts)).map(({ type }) => type)).not.toContain("notice");
  const sent = {
    ...{ agent: "helper", model: "m", turn: 2, instructions: "", notes: [], tools: [], history: [] },
    ...{
      toolChoice: "auto",
      discovered: [],
      deferred: 0,
      instructionsAreRebuilt: false,
      toolsAreRebuilt: false,
    },
  } as const;
  const warnings = warning?.type === "warning" ? [warning.message] : [];
  vi.stubGlobal("location", { origin: "http://localhost" }); // of the client that the page imports
  const { SentPrompt } = await import("./sent-prompt.tsx");
  const page = renderToStaticMarkup(
    <SentPrompt
      sent={sent as never}
      usage={{ ...counts, cachedTokens: 0 }}
      warnings={warnings}
      hasInstructions
    />,
  );
  expect(page).toContain("2,000 tokens in total, 0 of them cached");
  expect(page).toContain("It is 10:02.");
});
