import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openOwnData } from "@capstan/server";
import type { Model } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import type { Locator, Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { setupStudio, takePicture } from "../../packages/studio/src/testing/browser.ts";
import {
  getCards,
  getTranscript,
  sendAndWait,
  sendMessage,
  waitForMessage,
  waitUntilIdle,
} from "../../packages/studio/src/testing/conversation-page.ts";
import { waitMs } from "../../packages/studio/src/testing/launch-browser.ts";
import { offlineWithOverrides } from "../../packages/studio/src/testing/offline-with-overrides.ts";
import { addAndOpen, dropPaths } from "../../packages/studio/src/testing/own-data-page.ts";
import { about, graph } from "./agent.ts";
import type { GraphSources } from "./catalog.ts";
import { pets } from "./data/pets.ts";
import type { Network } from "./network.ts";
import { graphLoader } from "./own-data.ts";

const pollOptions = { timeout: waitMs };

const folder = mkdtempSync(join(tmpdir(), "capstan-graph-"));
afterAll(async () => {
  await data.close();
  rmSync(folder, { recursive: true });
});

/** Releases waiting callers one by one. */
const turnstile = {
  waiting: [] as (() => void)[],
  free: 0,
  async pass(): Promise<void> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
  },
  open(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.free++;
  },
};

/** Reasons, calls a tool, reasons and answers, and waits in each of these stages. */
const slow: Model = {
  id: "test/slow",
  async *stream({ history }) {
    await turnstile.pass();
    if (history.at(-1)?.type === "user") {
      yield [
        { type: "call_start", index: 0, name: "openGraph" },
        { type: "call_delta", index: 0, text: '{"name":"gated"}' },
        { type: "finish", reason: "tool_calls" },
      ];
      return;
    }
    yield [{ type: "text", text: "It is open" }];
    await turnstile.pass();
    yield [
      { type: "text", text: " now." },
      { type: "finish", reason: "stop" },
    ];
  },
};

const people = Array.from({ length: 1000 }, (_, n) => ({
  id: `n${n}`,
  data: { type: "person", name: `Person ${n}` },
}));
const crowd: Network = { name: "crowd", title: "A crowd", isDirected: false, nodes: people, edges: [] };
let heardStop: AbortSignal | undefined;
const graphs: GraphSources = {
  pets: () => pets,
  crowd: () => crowd,
  gated: () => turnstile.pass().then(() => pets),
  endless(signal) {
    heardStop = signal;
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  },
};
const model = offlineWithOverrides({
  "Never stop": scriptedModel((_, turn) => ({ calls: [{ name: "sampleData", input: { count: turn + 1 } }] })),
  "Take your time": slow,
});
const agent = await graph({ model, folder, graphs });
const store = memory();
const data = openOwnData({ store, folder: join(folder, "data"), loaders: { graph: graphLoader({ model }) } });
const studio = setupStudio(() => ({ agents: [agent], about: { graph: about }, store, data }));

const getView = (page: Page): Locator => page.getByRole("region", { name: "View" });
const getReplies = (page: Page): Locator => page.getByRole("group", { name: "Replies" }).getByRole("button");
const getLastAnswer = (page: Page): Locator =>
  page.getByRole("article", { name: "Message from graph" }).last();
const getStage = (page: Page): Locator => page.locator("[data-stage]");
const getAffected = (page: Page): Locator => getLastAnswer(page).locator("[data-affected]");

/** Counts the pixels of the drawing with exactly this color. */
async function countPixels(
  page: Page,
  [red, green, blue]: readonly [number, number, number],
): Promise<number> {
  const png = await getView(page).locator("svg:has([data-nodes])").screenshot();
  return page.evaluate(
    async ({ data, wanted }) => {
      const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
      canvas?.drawImage(bitmap, 0, 0);
      const points = canvas?.getImageData(0, 0, bitmap.width, bitmap.height).data ?? [];
      let count = 0;
      for (let at = 0; at < points.length; at += 4)
        if (wanted.every((value, part) => points[at + part] === value)) count++;
      return count;
    },
    { data: png.toString("base64"), wanted: [red, green, blue] },
  );
}
const blue = [0, 0, 255] as const;
const red = [255, 0, 0] as const;
/** Pixels of three round nodes, without anti-aliased edges. */
const threeNodes = 150;
const twoNodes = 100;

describe("graph scenarios 1, 2 and 8: asking", () => {
  test("counts nodes in two model calls, then edges, and a quick action shows sample nodes (S2-02, S2-22, S2-23, S2-44, S2-49)", async () => {
    const page = await studio.open("/");
    await page.getByRole("button", { name: "How many nodes are there?" }).click();
    await getLastAnswer(page).getByText("20 nodes").waitFor();
    await getStage(page).getByText("Done").waitFor();
    await getView(page).getByText("20 nodes, 30 edges").waitFor();
    await page.getByRole("tab", { name: "Timeline" }).click();
    const bars = page.getByRole("group", { name: "Timeline" });
    await expect.poll(() => bars.getByRole("button", { name: /^model / }).count(), pollOptions).toBe(2);
    await sendAndWait(page, "what about the edges?");
    await getLastAnswer(page).getByText("30 edges").waitFor();
    await getReplies(page).getByText("What are some sample nodes?").click();
    await waitForMessage(page, "What are some sample nodes?");
    await waitUntilIdle(page);
    const samples = await getLastAnswer(page).getByRole("listitem").allInnerTexts();
    expect(samples).toHaveLength(3);
    expect(samples[0]).toMatch(/Whiskers.*cat1.*tabby/);
    await expect.poll(() => getLastAnswer(page).innerText()).not.toContain('"success"');
    await takePicture(page, "visible-graph-1");
  });
});

describe("graph scenarios 3 and 4: coloring", () => {
  test("all cats turn blue on screen, and the answer and the picture count three changes (S2-15, S2-24, S2-56, S2-57)", async () => {
    const page = await studio.open("/");
    await sendAndWait(page, "How many nodes are there?");
    await getView(page).locator("svg:has([data-nodes])").waitFor();
    await expect.poll(() => countPixels(page, blue), pollOptions).toBe(0);
    await sendAndWait(page, "Find all cats and make them blue");
    await getAffected(page).getByText("3 nodes changed").waitFor();
    for (const name of ["Whiskers", "Mittens", "Shadow"])
      await getLastAnswer(page).getByText(name).first().waitFor();
    await getView(page).getByText("20 nodes, 30 edges, 3 changed").waitFor();
    await expect.poll(() => countPixels(page, blue), pollOptions).toBeGreaterThan(threeNodes);
    const cats = getView(page)
      .getByRole("list", { name: "Types" })
      .getByRole("listitem")
      .filter({ hasText: "cat" });
    expect(
      await cats
        .locator("span")
        .first()
        .evaluate((dot) => getComputedStyle(dot).backgroundColor),
    ).toBe("rgb(0, 0, 255)");
    await expect.poll(() => getCards(page, "ok").count(), pollOptions).toBe(3);
    await takePicture(page, "visible-graph-2");
    await getReplies(page).getByText("Clear all styles").click();
    await waitForMessage(page, "Clear all styles");
    await waitUntilIdle(page);
    await expect.poll(() => countPixels(page, blue), pollOptions).toBe(0);
  });

  test("without dogs, the answer lists and suggests the existing types, and the cats turn red (S2-26, S2-57)", async () => {
    const page = await studio.open("/", { theme: "dark" });
    await sendAndWait(page, "Style all dogs red");
    for (const type of ["human", "house", "toy", "cat", "food"])
      await getLastAnswer(page).getByText(type).waitFor();
    await expect.poll(() => getAffected(page).count(), pollOptions).toBe(0);
    await takePicture(page, "visible-graph-3");
    await getReplies(page).getByText("yes, the cats").click();
    await waitForMessage(page, "yes, the cats");
    await getAffected(page).getByText("3 nodes changed").waitFor();
    await expect.poll(() => countPixels(page, red), pollOptions).toBeGreaterThan(threeNodes);
  });

  test("at phone width the picture is part of the conversation", async () => {
    const page = await studio.open("/", { size: "phone" });
    await sendAndWait(page, "Find all cats and make them blue");
    await getAffected(page).getByText("3 nodes changed").waitFor();
    const picturesInChat = getTranscript(page).getByRole("figure", {
      name: "Cats and their people (fictional)",
    });
    await picturesInChat.last().getByText("3 changed").waitFor();
    await takePicture(page, "visible-graph-4");
  });
});

describe("graph scenarios 5, 6 and 7: limits and stopping", () => {
  test("a model that never stops is called five times, and the run fails with a named error (S2-16, S2-45)", async () => {
    const page = await studio.open("/");
    await sendAndWait(page, "Never stop");
    await getStage(page).getByText("Failed").waitFor();
    await expect.poll(() => getCards(page, "ok").count(), pollOptions).toBe(5);
    await getTranscript(page).getByText("The limit of 5 turns was reached.", { exact: true }).waitFor();
    await getTranscript(page).getByText("Maximum tool iterations reached", { exact: true }).waitFor();
    await takePicture(page, "visible-graph-5");
  });

  test("of 1,000 nodes the model gets as many as fit, as valid JSON with the count (S2-29, S2-30)", async () => {
    const page = await studio.open("/");
    await sendAndWait(page, "Open the crowd graph");
    await getView(page)
      .getByRole("figure", { name: /^A crowd/ })
      .waitFor();
    await sendAndWait(page, "Show me 1000 sample nodes");
    await getCards(page, "ok")
      .getByRole("button", { name: /^sampleData/ })
      .click();
    const result = getCards(page).last().locator("pre").nth(1);
    const text = await result.innerText();
    const { data } = JSON.parse(text);
    expect(data.nodes.at(-1)).toMatch(/^… \d+ of 1,000 items shown$/);
    expect(JSON.stringify(JSON.parse(text)).length).toBeLessThanOrEqual(4000);
    await getLastAnswer(page)
      .getByText(/and \d+ more/)
      .waitFor();
    await takePicture(page, "visible-graph-6");
  });

  test("the badge shows each stage of a run, including the processing of results (S2-18, S2-19, S2-35)", async () => {
    const page = await studio.open("/");
    await sendMessage(page, "Take your time");
    for (const words of ["Thinking…", "Working…", "Processing results…", "Writing…"]) {
      await getStage(page).getByText(words, { exact: true }).waitFor();
      turnstile.open();
    }
    await getStage(page).getByText("Done").waitFor();
    await getLastAnswer(page).getByText("It is open now.").waitFor();
  });

  test("Escape stops a graph that never opens: the tool is aborted, and the next question is answered (S2-54)", async () => {
    const page = await studio.open("/");
    await sendMessage(page, "Open the endless graph");
    await getStage(page).getByText("Working…").waitFor();
    await getCards(page, "running").waitFor();
    expect(heardStop?.aborted).toBe(false);
    await page.keyboard.press("Escape");
    await getStage(page).getByText("Stopped").waitFor();
    expect(heardStop?.aborted).toBe(true);
    await getCards(page, "interrupted").waitFor();
    await sendAndWait(page, "How many nodes are there?");
    await getLastAnswer(page).getByText("20 nodes").waitFor();
    await takePicture(page, "visible-graph-7");
  });
});

test("own graphs: two dropped CSV files become a graph, and its nodes turn blue on screen", async () => {
  const files = {
    "crew.csv": "id,name,type\n1,Ida,captain\n2,Jon,cook\n3,Kim,cook\n",
    "knows.csv": "source,target\n1,2\n2,3\n",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const page = await studio.open("/", { theme: "dark" });
  const card = page.getByRole("button", { name: /^Graph explorer/ });
  await card.waitFor();
  await dropPaths(card, [join(folder, "crew.csv"), join(folder, "knows.csv")]);
  await addAndOpen(page, "crew and 1 more", "3 nodes, 2 edges");
  await sendAndWait(page, "How many nodes are there?");
  await getView(page).getByText("3 nodes, 2 edges").waitFor();
  await expect.poll(() => countPixels(page, blue), pollOptions).toBe(0);
  await sendAndWait(page, "color the cooks blue");
  await getView(page).getByText("3 nodes, 2 edges, 2 changed").waitFor();
  await expect.poll(() => countPixels(page, blue), pollOptions).toBeGreaterThan(twoNodes);
  await takePicture(page, "graph-own-dark");
});
