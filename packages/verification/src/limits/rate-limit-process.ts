// Runs in its own process: calls a model within a limit that it shares with other processes, and prints "sent" for each
// call that reaches the model. Every line on stdin lets a number of milliseconds pass, tries some calls, and is answered
// by "done".

import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import type { ModelRequest } from "capstan";
import { withRateLimit } from "capstan/models/rate-limit";
import { postgres } from "capstan/stores/postgres";
import { fakeClock, scriptedModel } from "capstan/testing";
import pg from "pg";

const [url = "", perMinute = "", start = ""] = process.argv.slice(2);
const callsPerLine = 8;
const store = postgres(new pg.Pool({ connectionString: url, max: 2 }));
const clock = fakeClock({ start: Number(start) });
const model = scriptedModel(
  () => {
    writeSync(1, "sent\n");
    return { text: "Hi" };
  },
  { record: false },
);
const limited = withRateLimit(model, {
  store,
  clock,
  key: "account",
  requests: { minute: Number(perMinute) },
});
const request: ModelRequest = {
  ...{ instructions: "", history: [], tools: [], toolChoice: "auto", thinking: false },
};

async function call(): Promise<void> {
  try {
    for await (const _ of limited.stream(request, { signal: new AbortController().signal }));
  } catch (error) {
    if ((error as { code?: string }).code !== "model_rate_limited") throw error;
  }
}

for await (const line of createInterface(process.stdin)) {
  await clock.advance(Number(line));
  await Promise.all(Array.from({ length: callsPerLine }, call));
  writeSync(1, "done\n");
}
process.exit(0);
