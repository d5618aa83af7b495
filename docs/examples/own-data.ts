// An app on the user's own data: a loader reads a price list, and the server serves an agent on it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type DataLoader, openOwnData, type SkippedItem } from "@capstan/server";
import { AgentError, defineAgent, defineTool } from "capstan";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { z } from "zod";

const model = scriptedModel([
  { calls: [{ name: "find_price", input: { item: "rope" } }] },
  { text: "A rope costs 12." },
]);

/** Reads price lists: one `item, price` per line. */
export const priceLoader: DataLoader = {
  description: "price lists: text files with one item per line",
  extensions: [".txt"],
  acceptsFolders: false,
  async load({ name, title, locations, signal, onProgress }) {
    const prices = new Map<string, number>();
    const skipped: SkippedItem[] = [];
    for (const [done, file] of locations.entries()) {
      signal.throwIfAborted(); // the user has removed the data meanwhile
      onProgress({ done, total: locations.length, item: file });
      for (const line of readFileSync(file, "utf8").trim().split("\n")) {
        const [item = "", price = ""] = line.split(", ");
        if (Number(price) > 0) prices.set(item, Number(price));
        else skipped.push({ item: line, reason: "The line has no price." });
      }
    }
    if (prices.size === 0) throw new AgentError("invalid_input", `No prices found in ${title}.`);
    const findPrice = defineTool({
      name: "find_price",
      description: "Finds the price of an item",
      input: z.object({ item: z.string() }),
      effects: "none",
      execute: ({ item }) => ({ message: `${item}: ${prices.get(item) ?? "unknown"}` }),
    });
    return {
      agents: [defineAgent({ name, model, tools: [findPrice] })],
      profile: { title, description: "Knows the prices.", suggestions: ["What does a rope cost?"] },
      report: () => ({ counts: { prices: prices.size }, skipped }),
    };
  },
};

const folder = mkdtempSync(join(tmpdir(), "capstan-own-data-"));
writeFileSync(join(folder, "Summer 2026.txt"), "rope, 12\nanchor, 80\nboat, ask\n");

const store = memory();
const data = openOwnData({ store, loaders: { prices: priceLoader }, folder: join(folder, "data") });
const shop = defineAgent({ name: "prices", model });
const server = createServer({ agents: [shop], store, data });

const { name } = await data.add({ app: "prices", locations: [join(folder, "Summer 2026.txt")] });
const { state } = await data.whenLoaded(name);
if (state.type === "ready") console.log(name, state.loaded.report());

const request = { method: "POST", headers: { "content-type": "application/json" } };
const messages = [{ role: "user", content: "What does a rope cost?" }];
const body = JSON.stringify({ model: name, messages });
const response = await server.fetch(
  new Request("http://127.0.0.1/v1/chat/completions", { ...request, body }),
);
const { choices } = z
  .object({ choices: z.array(z.object({ message: z.object({ content: z.string() }) })) })
  .parse(await response.json());
console.log(choices[0]?.message.content);
await server.close();
await data.close();
rmSync(folder, { recursive: true });
