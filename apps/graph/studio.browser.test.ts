import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Model } from "capstan";
import { scriptedModel } from "capstan/testing";
import type { Locator, Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { picture, studioFor } from "../../packages/studio/src/testing/browser.ts";
import {
  ask,
  cards,
  heard,
  rest,
  say,
  transcript,
} from "../../packages/studio/src/testing/conversation-page.ts";
import { offlineExcept } from "../../packages/studio/src/testing/offline-except.ts";
import { about, graph } from "./agent.ts";
import type { GraphSources } from "./catalogue.ts";
import { pets } from "./data/pets.ts";
import type { Network } from "./network.ts";

const patience = { timeout: 30_000 };

const folder = mkdtempSync(join(tmpdir(), "capstan-graph-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** What waits passes one by one, each when the test says so. */
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

/** Thinks, calls, thinks and speaks, and waits in each of these. */
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
const model = offlineExcept({
  "Never stop": scriptedModel((_, turn) => ({ calls: [{ name: "sampleData", input: { count: turn + 1 } }] })),
  "Take your time": slow,
});
const agent = await graph({ model, folder, graphs });
const studio = studioFor(() => ({ agents: [agent], about: { graph: about } }));

const view = (page: Page): Locator => page.getByRole("region", { name: "View" });
const replies = (page: Page): Locator => page.getByRole("group", { name: "Replies" }).getByRole("button");
const answer = (page: Page): Locator => page.getByRole("article", { name: "graph says" }).last();
const stage = (page: Page): Locator => page.locator("[data-stage]");
const affected = (page: Page): Locator => answer(page).locator("[data-affected]");

/** How many points of the drawing have just this colour. */
async function pointsIn(page: Page, [red, green, blue]: readonly [number, number, number]): Promise<number> {
  const png = await view(page).locator("canvas.sigma-nodes").screenshot();
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
/** Three round nodes, without their soft edges. */
const threeNodes = 150;

describe("graph scenarios 1, 2 and 8: asking", () => {
  test("nodes are counted in two model calls, the edges after them, and a quick action shows what nodes are like (S2-02, S2-22, S2-23, S2-44, S2-49)", async () => {
    const page = await studio.open("/");
    await page.getByRole("button", { name: "How many nodes are there?" }).click();
    await answer(page).getByText("20 nodes").waitFor();
    await stage(page).getByText("Done").waitFor();
    await view(page).getByText("20 nodes, 30 edges").waitFor();
    await page.getByRole("tab", { name: "Timeline" }).click();
    const bars = page.getByRole("group", { name: "Timeline" });
    await expect.poll(() => bars.getByRole("button", { name: /^model / }).count(), patience).toBe(2);
    await ask(page, "what about the edges?");
    await answer(page).getByText("30 edges").waitFor();
    await replies(page).getByText("What are some sample nodes?").click();
    await heard(page, "What are some sample nodes?");
    await rest(page);
    const samples = await answer(page).getByRole("listitem").allInnerTexts();
    expect(samples).toHaveLength(3);
    expect(samples[0]).toMatch(/Whiskers.*cat1.*tabby/);
    expect(await answer(page).innerText()).not.toContain('"success"');
    await picture(page, "visible-graph-1");
  });
});

describe("graph scenarios 3 and 4: colouring", () => {
  test("all cats turn blue on screen, and three changes are counted under the answer and in the picture (S2-15, S2-24, S2-56, S2-57)", async () => {
    const page = await studio.open("/");
    await ask(page, "How many nodes are there?");
    await view(page).locator("canvas.sigma-nodes").waitFor();
    await expect.poll(() => pointsIn(page, blue), patience).toBe(0);
    await ask(page, "Find all cats and make them blue");
    await affected(page).getByText("3 nodes changed").waitFor();
    for (const name of ["Whiskers", "Mittens", "Shadow"])
      await answer(page).getByText(name).first().waitFor();
    await view(page).getByText("20 nodes, 30 edges, 3 changed").waitFor();
    await expect.poll(() => pointsIn(page, blue), patience).toBeGreaterThan(threeNodes);
    const cats = view(page)
      .getByRole("list", { name: "Types" })
      .getByRole("listitem")
      .filter({ hasText: "cat" });
    expect(
      await cats
        .locator("span")
        .first()
        .evaluate((dot) => getComputedStyle(dot).backgroundColor),
    ).toBe("rgb(0, 0, 255)");
    await expect.poll(() => cards(page, "ok").count(), patience).toBe(3);
    await picture(page, "visible-graph-2");
    await replies(page).getByText("Clear all styles").click();
    await heard(page, "Clear all styles");
    await rest(page);
    await expect.poll(() => pointsIn(page, blue), patience).toBe(0);
  });

  test("there are no dogs to style: it says what there is and offers it, and the cats turn red (S2-26, S2-57)", async () => {
    const page = await studio.open("/", { theme: "dark" });
    await ask(page, "Style all dogs red");
    for (const type of ["human", "house", "toy", "cat", "food"]) await answer(page).getByText(type).waitFor();
    await expect.poll(() => affected(page).count(), patience).toBe(0);
    await picture(page, "visible-graph-3");
    await replies(page).getByText("yes, the cats").click();
    await heard(page, "yes, the cats");
    await affected(page).getByText("3 nodes changed").waitFor();
    await expect.poll(() => pointsIn(page, red), patience).toBeGreaterThan(threeNodes);
  });

  test("at the width of a phone the picture stands in the conversation", async () => {
    const page = await studio.open("/", { size: "phone" });
    await ask(page, "Find all cats and make them blue");
    await affected(page).getByText("3 nodes changed").waitFor();
    const picturesInChat = transcript(page).getByRole("figure", {
      name: "Cats and their people (fictional)",
    });
    await picturesInChat.last().getByText("3 changed").waitFor();
    await picture(page, "visible-graph-4");
  });
});

describe("graph scenarios 5, 6 and 7: limits, and stopping", () => {
  test("a model that never stops is asked five times, and the run fails by name (S2-16, S2-45)", async () => {
    const page = await studio.open("/");
    await ask(page, "Never stop");
    await stage(page).getByText("Failed").waitFor();
    await expect.poll(() => cards(page, "ok").count(), patience).toBe(5);
    await transcript(page).getByText("The limit of 5 turns was reached.", { exact: true }).waitFor();
    await transcript(page).getByText("Maximum tool iterations reached", { exact: true }).waitFor();
    await picture(page, "visible-graph-5");
  });

  test("of 1,000 nodes the model gets as many as fit, as valid JSON that says how many (S2-29, S2-30)", async () => {
    const page = await studio.open("/");
    await ask(page, "Open the crowd graph");
    await view(page)
      .getByRole("figure", { name: /^A crowd/ })
      .waitFor();
    await ask(page, "Show me 1000 sample nodes");
    await cards(page, "ok")
      .getByRole("button", { name: /^sampleData/ })
      .click();
    const result = cards(page).last().locator("pre").nth(1);
    const text = await result.innerText();
    const { data } = JSON.parse(text);
    expect(data.nodes.at(-1)).toMatch(/^… \d+ of 1,000 items shown$/);
    expect(JSON.stringify(JSON.parse(text)).length).toBeLessThanOrEqual(4000);
    await answer(page)
      .getByText(/and \d+ more/)
      .waitFor();
    await picture(page, "visible-graph-6");
  });

  test("the badge tells each stage of a run, also that results are being processed (S2-18, S2-19, S2-35)", async () => {
    const page = await studio.open("/");
    await say(page, "Take your time");
    for (const words of ["Thinking…", "Working…", "Processing results…", "Writing…"]) {
      await stage(page).getByText(words, { exact: true }).waitFor();
      turnstile.open();
    }
    await stage(page).getByText("Done").waitFor();
    await answer(page).getByText("It is open now.").waitFor();
  });

  test("Escape stops a graph that never opens: the tool is told, and what was asked next is answered (S2-54)", async () => {
    const page = await studio.open("/");
    await say(page, "Open the endless graph");
    await stage(page).getByText("Working…").waitFor();
    await cards(page, "running").waitFor();
    expect(heardStop?.aborted).toBe(false);
    await page.keyboard.press("Escape");
    await stage(page).getByText("Stopped").waitFor();
    expect(heardStop?.aborted).toBe(true);
    await cards(page, "interrupted").waitFor();
    await ask(page, "How many nodes are there?");
    await answer(page).getByText("20 nodes").waitFor();
    await picture(page, "visible-graph-7");
  });
});
