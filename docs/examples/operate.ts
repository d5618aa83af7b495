// A server with the settings for production, its request log, and a backup while it runs.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, listen } from "@capstan/server";
import { defineAgent } from "capstan";
import { createClient } from "capstan/client";
import { backupStore, sqlite } from "capstan/stores/sqlite";
import { scriptedModel } from "capstan/testing";

const folder = mkdtempSync(join(tmpdir(), "operate-"));
const database = join(folder, "capstan.db");
const apiKey = "read-it-from-the-environment"; // of the local user, who is an admin
const store = sqlite(database);
const clerk = defineAgent({ name: "clerk", model: scriptedModel([{ text: "Good morning." }]) });

const log: string[] = [];
const server = createServer({
  agents: [clerk],
  store,
  apiKey,
  hosts: ["agents.example.com"], // the name in front of the proxy
  origins: ["https://agents.example.com"],
  quotas: { default: { concurrentRuns: 5, cost: { day: 2 } } }, // of each user
  retention: { olderThanDays: 90 },
  onRequest: (entry) => log.push(JSON.stringify(entry)),
});
const listening = await listen(server, { port: 0 });

const client = createClient({ baseURL: listening.url, key: apiKey });
const { runId } = await client.runs.start({ input: "Good morning!" });
for await (const event of client.runs.events(runId)) if (event.type === "done") console.log(event.text);

const copy = join(folder, "backup.db");
backupStore(database, copy); // the server may be writing

await listening.close();
await store.close();
const backup = sqlite(copy);
console.log(`${(await backup.list()).length} session in the backup`);
await backup.close();
rmSync(folder, { recursive: true });
const { method, route, status } = JSON.parse(log[0] ?? "");
console.log(`${method} ${route} ${status}`);
