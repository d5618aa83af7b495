import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { setupStudio } from "./testing/browser.ts";
import { agentProfiles, createChatAgents } from "./testing/chat-agents.ts";
import { sendAndWait, sendMessage } from "./testing/conversation-page.ts";

const studio = setupStudio(() => ({ agents: createChatAgents(), about: agentProfiles }));

test("the first screen loads less than 120 kB of script, and the code of a chat only when it is about to start", async () => {
  const page = await studio.open("about:blank");
  const scripts = await watchScripts(page);
  await page.goto(studio.url);
  await page.getByLabel("Ask anything").waitFor();
  await page.waitForLoadState("networkidle");
  expect(scripts.size).toBeGreaterThan(0);
  expect(sum([...scripts.values()])).toBeLessThan(120_000);
  expect(findScript(scripts, "conversation")).toBeUndefined();
  await page.getByLabel("Ask anything").fill("Hello");
  await expect.poll(() => findScript(scripts, "conversation")).toBeDefined();
  const loaded = new Set(scripts.keys());
  scripts.clear();
  await page.reload();
  await page.getByLabel("Ask anything").waitFor();
  const repeated = [...scripts].filter(([url, size]) => size > 0 && loaded.has(url));
  expect(repeated).toEqual([]); // cached by content hash
});

test("the page is painted before its script has loaded, in the colors of the system", async () => {
  const page = await studio.open("about:blank", { theme: "dark" });
  const release = Promise.withResolvers<void>();
  await page.route("**/assets/*.js", async (route) => {
    await release.promise;
    await route.continue();
  });
  await page.goto(studio.url, { waitUntil: "commit" });
  await page.getByText("Loading…").waitFor();
  const getBackground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await expect.poll(getBackground).not.toBe("rgba(0, 0, 0, 0)"); // the style sheet has arrived
  const background = await getBackground();
  release.resolve();
  await page.getByLabel("Ask anything").waitFor();
  expect(await getBackground()).toBe(background);
});

test("a page whose code cannot be loaded says so, and the rest stays usable", async () => {
  const page = await studio.open("/", { expects: [/ERR_FAILED|Failed to fetch/] });
  await page.route("**/assets/models-page-*.js", (route) => route.abort());
  await page.getByRole("link", { name: "Models" }).click();
  await page.getByRole("alert").getByText("This page could not be loaded.").waitFor();
  await page.getByRole("link", { name: "Agents" }).click();
  await page.getByRole("heading", { name: "Agents" }).waitFor();
});

test.each([
  "br",
  "gzip",
])("the built files are sent as %s, also to clients that know no other encoding", async (encoding) => {
  const get = (path: string) =>
    fetch(new URL(path, studio.url), { headers: { "accept-encoding": encoding } });
  const page = await get("/");
  const [script = ""] = /\/assets\/[^"]+\.js/.exec(await page.text()) ?? [];
  for (const response of [page, await get(script)])
    expect(response.headers.get("content-encoding")).toBe(encoding);
});

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

const findScript = (scripts: ReadonlyMap<string, number>, name: string) =>
  [...scripts.keys()].find((url) => url.includes(`/assets/${name}-`));

/** Returns the bytes that each script has taken on the network, with headers and as they were compressed. */
async function watchScripts(page: Page): Promise<Map<string, number>> {
  const session = await page.context().newCDPSession(page);
  const urls = new Map<string, string>();
  const sizes = new Map<string, number>();
  session.on("Network.responseReceived", ({ requestId, type, response }) => {
    if (type === "Script" && !response.fromDiskCache) urls.set(requestId, response.url);
  });
  session.on("Network.requestServedFromCache", ({ requestId }) => urls.delete(requestId));
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const url = urls.get(requestId);
    if (url !== undefined) sizes.set(url, encodedDataLength);
  });
  await session.send("Network.enable");
  return sizes;
}

test("while text streams, finished content is not re-rendered and the layout does not shift", async () => {
  const page = await studio.open("/");
  for (const text of ["Look up how to begin", "Only words"]) await sendAndWait(page, text);
  await sendMessage(page, "Count");
  await page.locator("[data-live]").getByText("word12").waitFor();
  const { outside, inside, shift } = await page.evaluate(async () => {
    let [outside, inside, shift] = [0, 0, 0];
    const list = document.querySelector('[aria-label="Conversation"]');
    const changes = new MutationObserver((all) => {
      for (const { target } of all) {
        const element = target instanceof Element ? target : target.parentElement;
        if (element?.closest("[data-live]")) inside++;
        else if (element?.closest("article")) outside++;
      }
    });
    if (list)
      changes.observe(list, { subtree: true, childList: true, characterData: true, attributes: true });
    new PerformanceObserver((entries) => {
      for (const entry of entries.getEntries())
        shift += (entry as unknown as { readonly value: number }).value;
    }).observe({ type: "layout-shift" });
    while (inside <= 10) await new Promise((resolve) => requestAnimationFrame(resolve));
    changes.disconnect();
    return { outside, inside, shift };
  });
  expect(inside).toBeGreaterThan(10);
  expect(outside).toBe(0);
  expect(shift).toBeLessThan(0.01);
});
