import { defineAgent, defineTool, type Event, run } from "capstan";
import { buildView, stageOf } from "capstan/client";
import { collect, scriptedModel } from "capstan/testing";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test, vi } from "vitest";
import { ConversationContext } from "../conversation-context.ts";
import { AssistantMessage } from "./assistant-message.tsx";
import { buildItems } from "./build-items.ts";
import { LiveMessage } from "./live-message.tsx";
import { StageBadge } from "./stage-badge.tsx";

vi.hoisted(() => vi.stubGlobal("location", new URL("http://127.0.0.1")));

const look = defineTool({
  ...{ name: "look", description: "Looks", input: { at: { type: "string" } }, effects: "none" },
  execute({ at }) {
    if (at === "night") throw new Error("It is dark.");
    return "seen";
  },
});

const told: Promise<readonly Event[]> = runScript();

async function runScript(): Promise<readonly Event[]> {
  const model = scriptedModel([
    {
      calls: [
        { id: "c1", name: "look", input: { at: "noon" } },
        { id: "c2", name: "look", input: { at: "night" } },
      ],
    },
    { text: "One of the two was seen.", split: 4 },
  ]);
  return (await collect(run(defineAgent({ name: "helper", model, tools: [look] }), "Begin"))).events;
}

/** What the page shows after these events. */
function renderLive(events: readonly Event[]): string {
  const view = buildView(events);
  const actions = { sessionId: "s", getView: () => view, openSource() {}, showFact() {}, showView() {} };
  return renderToStaticMarkup(
    <ConversationContext value={actions}>
      {buildItems(view).map((item) =>
        item.type === "assistant" ? <AssistantMessage key={item.key} item={item} /> : null,
      )}
      <LiveMessage view={view} />
      <StageBadge view={view} />
    </ConversationContext>,
  );
}

const takeUntil = (events: readonly Event[], isLast: (event: Event) => boolean) =>
  events.slice(0, events.findIndex(isLast) + 1);

const findState = (html: string, call: string) =>
  new RegExp(`data-call="${call}" data-state="(\\w+)"`).exec(html)?.[1];

test("text streams, calls go from running to done or failed, and the answer stays (S1-33)", async () => {
  const events = await told;
  const running = renderLive(takeUntil(events, ({ type }) => type === "tool_call_start"));
  expect([findState(running, "c1"), running.includes("Running")]).toEqual(["running", true]);
  const ended = renderLive(takeUntil(events, (event) => event.type === "turn_start" && event.turn === 2));
  expect([findState(ended, "c1"), findState(ended, "c2")]).toEqual(["ok", "error"]);
  expect(ended).toContain(">Failed<");
  const lengths = events.flatMap((event, at) => {
    if (event.type !== "content_delta") return [];
    const html = renderLive(events.slice(0, at + 1));
    const { text } = buildView(events.slice(0, at + 1)).live;
    expect(html.replaceAll(/<[^>]*>/g, "")).toContain(text.trim());
    return [text.length];
  });
  expect(lengths).toEqual([4, 8, 12, 16, 20, 24]);
  const whole = renderLive(events);
  expect(whole).toContain("One of the two was seen.");
  expect(whole).not.toContain("data-live");
});

const findBadge = (html: string) => /data-stage="(\w+)"/.exec(html)?.[1] ?? "idle";

test("the badge shows the stage of the run at every event, like stageOf (S2-18, S2-19)", async () => {
  const events = await told;
  expect(findBadge(renderLive([]))).toBe("idle");
  const seen = events.map((_, at) => {
    const before = events.slice(0, at + 1);
    const html = renderLive(before);
    expect([at, findBadge(html)]).toEqual([at, stageOf(before)]);
    return findBadge(html);
  });
  expect(new Set(seen)).toEqual(new Set(["submitted", "streaming", "executing", "processing", "complete"]));
  const failing = scriptedModel([{ error: "content_filter" }]);
  const failed = await collect(run(defineAgent({ name: "helper", model: failing }), "Begin"));
  expect(renderLive(failed.events)).toMatch(/data-stage="error".*Failed/);
});

test("the badge shows processing only while the model reads tool results (S2-35)", async () => {
  const events = await told;
  for (const [at] of events.entries()) {
    const before = events.slice(0, at + 1);
    expect(renderLive(before).includes("Processing results…")).toBe(stageOf(before) === "processing");
  }
  expect(renderLive(takeUntil(events, ({ type }) => type === "turn_start"))).toContain("Thinking…");
  expect(renderLive(takeUntil(events, ({ type }) => type === "tool_call_start"))).toContain("Working…");
  expect(renderLive(takeUntil(events, ({ type }) => type === "content_delta"))).toContain("Writing…");
  expect(renderLive(events)).toContain("Done");
});

test("an answer that starts again replaces its text and says what was discarded", () => {
  const origin = { runId: "r", sessionId: "s", agent: "helper", turn: 1, at: 0, id: "" };
  const cut = { type: "message_restart", reason: "stream_truncated", model: "one", discarded: 12 };
  const reason = { code: "model_overloaded", message: "503: busy." };
  const bodies = [
    { type: "run_start", input: [], policy: {}, seq: 1 },
    { type: "turn_start", turn: 1, seq: 2 },
    { type: "content_delta", delta: "Half a story" },
    cut,
    { type: "retry", attempt: 1, ...reason, waitMs: 2000, at: 2000 },
    { type: "content_delta", delta: "The whole story" },
  ];
  const events = bodies.map((body) => ({ ...origin, ...body }) as unknown as Event);
  const waiting = renderLive(events.slice(0, -1));
  expect(waiting).toContain("The model provider is overloaded. Attempt 2 in 2.0 s.");
  const html = renderLive(events);
  expect(html).toContain("one failed, and its incomplete answer of 12 characters was discarded.");
  expect(html).toContain("The whole story");
  expect(html).not.toContain("Half a story");
});
