import { defineAgent, run } from "capstan";
import { prune, session, sessions } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";

const model = scriptedModel([{ text: "Bergen has the older harbor." }, { text: "About 1070." }]);
const agent = defineAgent({ name: "guide", model });

// Any store works; `sqlite("capstan.db")` keeps sessions across restarts.
const store = memory();
await run(agent, "Which harbor is older, Oslo or Bergen?", { store, session: "trip" });
await run(agent, "Since when is it there?", { store, session: "trip" });

const trip = session(store, "trip");
const { title, runs, usage } = await trip.info();
console.log(`${title} ${runs.length} runs, ${usage.inputTokens} tokens in`);
await trip.rename("Harbors");

for (const { title, places } of await sessions(store).search("older harbor"))
  console.log(`${title}: ${places.map(({ excerpt }) => excerpt).join(" / ")}`);

// One self-contained file, to read or to send.
const page = await trip.export("html");
console.log(page.split("\n")[0]);

// A portable copy: facts, blobs and title. Importing executes nothing, and nothing in the file grants a right.
const file = await trip.export("json");
const copy = await sessions(memory()).import(file);
console.log(`imported: ${(await copy.info()).title}, ${(await copy.history()).length} entries`);

const ninetyDays = 90 * 86_400_000;
for await (const { id } of prune(store, { before: Date.now() - ninetyDays })) console.log(`Removed ${id}`);
