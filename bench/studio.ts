// Measures the studio in a real browser: a session of 10,000 events, and streaming text. See README.md.
import { createServer, listen } from "@capstan/server";
import { studioFolder } from "@capstan/studio";
import { defaultPolicy, defineAgent, type Model, type Store } from "capstan";
import { memory } from "capstan/stores/memory";
import type { Page } from "playwright-core";
import { withBuiltStudio } from "../packages/studio/src/testing/build-studio.ts";
import { launchBrowser, sizes } from "../packages/studio/src/testing/launch-browser.ts";
import { formatEnvironment, formatTable, updateReadme } from "./markdown.ts";

type Facts = Parameters<Store["append"]>[0];
const events = 10_000;
const turnEvents = 5;
const tokensPerSecond = 100;
const streamMs = 10_000;

/** A session of `events` facts: turns with one call and some text each. */
function createLongSession(): Facts {
  const place = { sessionId: "ses_long", runId: "run_long", agent: "guide" };
  const usage = { inputTokens: 1000, outputTokens: 60 };
  const bodies: object[] = [
    {
      type: "run_start",
      input: [{ type: "user", content: "Walk on." }],
      policy: defaultPolicy,
      timeZone: "UTC",
    },
  ];
  for (let turn = 1; bodies.length < events - turnEvents - 1; turn++) {
    const id = `call_${turn}`;
    const text = `Step **${turn}**: I look at the next page, and note \`what\` is there.\n\n- one\n- two`;
    const call = { type: "call", id, name: "read_page", input: { page: turn } };
    bodies.push(
      {
        type: "turn_start",
        turn,
        maxTurns: "unlimited",
        messageCount: turn * 2,
        tools: "offered",
        chain: "main",
        notes: [],
      },
      {
        type: "message",
        entry: { type: "assistant", parts: [{ type: "text", text }, call] },
        model: "test/guide",
        usage,
        ms: 800,
        finish: "tool_calls",
      },
      { type: "tool_call_start", id, name: "read_page", arguments: { page: turn }, attempt: 1 },
      {
        type: "tool_call_result",
        id,
        name: "read_page",
        result: "A page of words. ".repeat(8),
        is_error: false,
        status: "ok",
        attempts: 1,
        ms: 120,
      },
      { type: "turn_end", turn, usage },
    );
  }
  bodies.push({ type: "done", status: "done", text: "The end.", usage, cost: 0, grounded: true });
  let turn = 0;
  return bodies.map((body, at) => {
    if ("turn" in body) turn = Number(body.turn);
    return {
      id: `run_long.${at}`,
      turn,
      at: 1_760_000_000_000 + at * 200,
      ...body,
      ...place,
    } as unknown as Facts[number];
  });
}

/** Streams words at a steady pace, in paragraphs. */
const talkingModel: Model = {
  id: "test/talker",
  async *stream(_, { signal }) {
    const started = performance.now();
    const count = (streamMs / 1000) * tokensPerSecond;
    for (let sentCount = 0; sentCount < count && !signal.aborted; ) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      const due = Math.min(count, Math.floor(((performance.now() - started) / 1000) * tokensPerSecond));
      for (; sentCount < due; sentCount++)
        yield [{ type: "text", text: sentCount % 40 === 39 ? "**end**.\n\n" : `word${sentCount} ` }];
    }
    yield [
      { type: "usage", usage: { inputTokens: 10, outputTokens: count } },
      { type: "finish", reason: "stop" },
    ];
  },
};

type Watch = {
  readonly long: readonly number[];
  readonly frames: readonly number[];
  readonly paintMs?: number;
};

/** Runs in the page and records tasks over 50 ms and the time between frames. */
function watchPage(): void {
  const watch = { long: [] as number[], frames: [] as number[] };
  Object.assign(window, { watch });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) watch.long.push(duration);
  }).observe({ type: "longtask", buffered: true });
  let before = performance.now();
  requestAnimationFrame(function frame(now) {
    watch.frames.push(now - before);
    before = now;
    requestAnimationFrame(frame);
  });
}

const readWatch = (page: Page) => page.evaluate(() => (window as unknown as { watch: Watch }).watch);
const resetWatch = (page: Page) =>
  page.evaluate(() =>
    Object.values((window as unknown as { watch: Record<string, unknown[]> }).watch).map((list) =>
      list.splice(0),
    ),
  );

function formatRow(name: string, { long, frames }: Watch, first = ""): readonly string[] {
  const total = frames.reduce((sum, ms) => sum + ms, 0);
  const rate = total > 0 ? Math.round((1000 * frames.length) / total) : 0;
  const worst = Math.round(Math.max(0, ...long));
  return [name, `${first}`, `${long.length}`, `${worst}`, `${rate}`];
}

async function measureLong(page: Page, url: string): Promise<readonly (readonly string[])[]> {
  const started = Date.now();
  await page.goto(`${url}/sessions/ses_long`);
  await page.locator("[data-call]").first().waitFor();
  const paintMs = Date.now() - started;
  await page.waitForTimeout(1000);
  const opened = formatRow(
    `opening ${events.toLocaleString("en")} events`,
    await readWatch(page),
    `${paintMs}`,
  );
  await resetWatch(page);
  const box = await page.getByRole("region", { name: "Conversation" }).boundingBox();
  await page.mouse.move((box?.x ?? 0) + 300, (box?.y ?? 0) + 300);
  for (let step = 0; step < 120; step++) {
    await page.mouse.wheel(0, -400);
    await page.waitForTimeout(16);
  }
  return [opened, formatRow("scrolling through it", await readWatch(page))];
}

async function measureStream(page: Page, url: string): Promise<readonly string[]> {
  await page.goto(url);
  await page.locator("[data-prompt]").fill("Talk");
  await page.keyboard.press("Enter");
  await page.locator("[data-live]").getByText("word20").waitFor();
  await resetWatch(page);
  await page.waitForTimeout(streamMs - 2000);
  return formatRow(`${tokensPerSecond} tokens a second`, await readWatch(page));
}

async function main(): Promise<void> {
  const store = memory();
  const facts = createLongSession();
  const lease = await store.lease("ses_long", "bench", 60_000);
  if (!lease) throw new Error("The session lease is taken.");
  await store.append(facts, { expected: 0, lease });
  await store.release(lease);
  const agent = defineAgent({ name: "guide", model: talkingModel });
  const server = await withBuiltStudio(() =>
    createServer({ agents: [agent], store, studio: { folder: studioFolder } }),
  );
  const [listening, browser] = await Promise.all([listen(server, { port: 0 }), launchBrowser()]);
  const page = await browser.newPage({ viewport: sizes.desktop });
  await page.addInitScript(watchPage);
  const rows = [...(await measureLong(page, listening.url)), await measureStream(page, listening.url)];
  await browser.close();
  await listening.close(500);
  const about = `${formatEnvironment("npm run bench:studio", "Chromium without a graphics card")}.`;
  const head = ["", "ms to the first entry", "tasks over 50 ms", "longest, ms", "frames a second"];
  const report = `${about}\n\n${formatTable(head, rows)}`;
  process.stdout.write(`${report}\n`);
  updateReadme("studio", report);
  process.exit(0);
}

await main();
