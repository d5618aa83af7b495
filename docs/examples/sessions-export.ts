import { defineAgent, run } from "capstan";
import { session, sessions } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";

const model = scriptedModel([{ text: "Bergen has the older harbour." }, { text: "About 1070." }]);
const agent = defineAgent({ name: "guide", model });

// Any store will do: `sqlite("capstan.db")` keeps sessions for tomorrow.
const store = memory();
await run(agent, "Which harbour is older, that of Oslo or that of Bergen?", { store, session: "trip" });
await run(agent, "Since when is it there?", { store, session: "trip" });

const trip = session(store, "trip");
const { title, runs, usage } = await trip.info();
console.log(`${title} ${runs.length} runs, ${usage.inputTokens} tokens in`);
await trip.rename("Harbours");

for (const { title, places } of await sessions(store).search("older harbour"))
  console.log(`${title}: ${places.map(({ excerpt }) => excerpt).join(" / ")}`);

// To read, or to send to somebody: one file that needs nothing else.
const page = await trip.export("html");
console.log(page.split("\n")[0]);

// To have it elsewhere: facts, blobs and title. Importing starts nothing.
const file = await trip.export("json");
const copy = await sessions(memory()).import(file);
console.log(`imported: ${(await copy.info()).title}, ${(await copy.history()).length} entries`);
