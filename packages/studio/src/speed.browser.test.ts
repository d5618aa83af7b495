import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { studioFolder } from "./index.ts";
import { setupStudio } from "./testing/browser.ts";
import { agentProfiles, createChatAgents } from "./testing/chat-agents.ts";
import { sendAndWait, sendMessage } from "./testing/conversation-page.ts";

const studio = setupStudio(() => ({ agents: createChatAgents(), about: agentProfiles }));

test("the page initially loads at most 220 kB of gzipped JavaScript and no widgets", () => {
  const html = readFileSync(join(studioFolder, "index.html"), "utf8");
  const files = new Set(
    [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map(([, file]) => file ?? ""),
  );
  // What those import at once counts too, whether or not the page names it.
  for (const file of files)
    for (const [, name] of readFileSync(join(studioFolder, file), "utf8").matchAll(
      /(?:from|import)\s*"\.\/([^"]+\.js)"/g,
    ))
      files.add(`assets/${name}`);
  const bytes = [...files].map((file) => gzipSync(readFileSync(join(studioFolder, file))).length);
  expect(files.size).toBeGreaterThan(0);
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(220_000);
  expect([...files].filter((file) => /widget|sigma|inspector|page-/.test(file))).toEqual([]);
});

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
