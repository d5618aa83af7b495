// Measures the studio in a real browser: the first screen on a slow network, long sessions, and streaming text. See
// README.md.
import { createServer, listen } from "@capstan/server";
import { studioFolder } from "@capstan/studio";
import { defineAgent, type Model, type Store } from "capstan";
import { memory } from "capstan/stores/memory";
import type { Browser, Page } from "playwright-core";
import { withBuiltStudio } from "../packages/studio/src/testing/build-studio.ts";
import { launchBrowser, sizes } from "../packages/studio/src/testing/launch-browser.ts";
import { createLongSession } from "./long-session.ts";
import { formatEnvironment, formatTable, updateReadme } from "./markdown.ts";

const slowNetwork = { offline: false, latency: 100, downloadThroughput: 50_000, uploadThroughput: 50_000 };
const slowNetworkName = "400 kbit/s, 100 ms latency";
/** Each turn has two entries and five events. */
const sessions = { ses_2000: 1000, ses_4000: 2000 } as const;
const openRounds = 5;
const tokensPerSecond = 100;
const streamMs = 10_000;

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

function formatRow(name: string, { long, frames }: Watch, opening = ["", ""]): readonly string[] {
  const total = frames.reduce((sum, ms) => sum + ms, 0);
  const rate = total > 0 ? Math.round((1000 * frames.length) / total) : 0;
  const worst = Math.round(Math.max(0, ...long));
  return [name, ...opening, `${long.length}`, `${worst}`, `${rate}`];
}

/** Loads the start page on a slow network, with an empty cache. */
async function measureFirstScreen(browser: Browser, url: string): Promise<string> {
  const context = await browser.newContext({ viewport: sizes.desktop });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const scripts = new Set<string>();
  let scriptBytes = 0;
  session.on(
    "Network.responseReceived",
    ({ requestId, type }) => type === "Script" && scripts.add(requestId),
  );
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) scriptBytes += encodedDataLength;
  });
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", slowNetwork);
  await page.goto(url, { waitUntil: "commit" });
  await page.locator("[data-prompt]").waitFor();
  const { paintMs, promptMs } = await page.evaluate(() => ({
    paintMs: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
    promptMs: performance.now(),
  }));
  await page.waitForLoadState("networkidle");
  await context.close();
  const row = ["the first screen", scriptBytes / 1000, paintMs, promptMs];
  return formatTable(
    ["", "script, kB", `first paint, ms (${slowNetworkName})`, "ready to type, ms"],
    [row.map((cell) => (typeof cell === "number" ? `${Math.round(cell)}` : cell))],
  );
}

/** Opens a session several times by its link in the sidebar, and once by its address. Returns milliseconds. */
async function measureOpening(page: Page, url: string, id: string): Promise<readonly [number, number]> {
  const started = Date.now();
  await page.goto(`${url}/sessions/${id}`);
  await page.locator("[data-call]").first().waitFor();
  const addressMs = Date.now() - started;
  const openings: number[] = [];
  for (let round = 0; round < openRounds; round++) {
    await page.goto(url);
    await page.locator(`a[href="/sessions/${id}"]`).hover();
    openings.push(await page.evaluate(openByLink, `a[href="/sessions/${id}"]`));
  }
  const [median = 0] = openings.toSorted((left, right) => left - right).slice(Math.floor(openRounds / 2));
  return [addressMs, Math.round(median)];
}

/** Runs in the page: clicks a link and returns the time until an entry of the session is painted. */
async function openByLink(selector: string): Promise<number> {
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const started = performance.now();
  document.querySelector<HTMLElement>(selector)?.click();
  while (!document.querySelector("[data-call]")) await nextFrame();
  await nextFrame();
  return performance.now() - started;
}

async function measureSessions(page: Page, url: string): Promise<readonly (readonly string[])[]> {
  const rows: (readonly string[])[] = [];
  for (const [id, turns] of Object.entries(sessions)) {
    await resetWatch(page);
    const [addressMs, linkMs] = await measureOpening(page, url, id);
    await page.waitForTimeout(1000);
    const name = `opening ${(2 * turns).toLocaleString("en")} entries`;
    rows.push(formatRow(name, await readWatch(page), [`${linkMs}`, `${addressMs}`]));
  }
  await resetWatch(page);
  const box = await page.getByRole("region", { name: "Conversation" }).boundingBox();
  await page.mouse.move((box?.x ?? 0) + 300, (box?.y ?? 0) + 300);
  for (let step = 0; step < 120; step++) {
    await page.mouse.wheel(0, -400);
    await page.waitForTimeout(16);
  }
  return [...rows, formatRow("scrolling through it", await readWatch(page))];
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

async function storeSession(store: Store, id: string, turns: number): Promise<void> {
  const lease = await store.lease(id, "bench", 60_000);
  if (!lease) throw new Error("The session lease is taken.");
  await store.append(createLongSession(id, turns), { expected: 0, lease });
  await store.release(lease);
}

async function main(): Promise<void> {
  const store = memory();
  for (const [id, turns] of Object.entries(sessions)) await storeSession(store, id, turns);
  const agent = defineAgent({ name: "guide", model: talkingModel });
  const server = await withBuiltStudio(() =>
    createServer({ agents: [agent], store, studio: { folder: studioFolder } }),
  );
  const [listening, browser] = await Promise.all([listen(server, { port: 0 }), launchBrowser()]);
  const firstScreen = await measureFirstScreen(browser, listening.url);
  const page = await browser.newPage({ viewport: sizes.desktop });
  await page.addInitScript(watchPage);
  await page.goto(listening.url);
  const rows = [...(await measureSessions(page, listening.url)), await measureStream(page, listening.url)];
  await browser.close();
  await listening.close(500);
  const about = `${formatEnvironment("npm run bench:studio", "Chromium without a graphics card")}.`;
  const head = [
    ...["", "ms to the first entry, by a link", "by address"],
    ...["tasks over 50 ms", "longest, ms", "frames a second"],
  ];
  const report = [about, firstScreen, formatTable(head, rows)].join("\n\n");
  process.stdout.write(`${report}\n`);
  updateReadme("studio", report);
  process.exit(0);
}

await main();
