import { defineAgent } from "capstan";
import { local } from "capstan/engines/local";
import { scheduleTool } from "capstan/schedules";
import { memory } from "capstan/stores/memory";
import { fakeClock, scriptedModel } from "capstan/testing";

const clock = fakeClock({ start: Date.UTC(2026, 2, 2, 7) }); // a Monday, so that the example need not wait
const store = memory();

const helper = defineAgent({
  name: "helper",
  model: scriptedModel([
    { calls: [{ name: "schedule", input: { when: "tomorrow at 9", text: "Water the plants" } }] },
    { text: "I will remind you tomorrow at 9." },
    { text: "Good morning! Nothing new." },
    { text: "Time to water the plants!" },
  ]),
  // Stores what the model schedules; the engine on the same store starts it.
  tools: [scheduleTool({ store })],
});

const engine = local({ store, agents: helper, clock, getResumeOptions: () => ({ clock }) });

const asked = await engine.run(helper, "Remind me tomorrow at 9 to water the plants.", {
  ...{ session: "chat", timeZone: "Europe/Oslo", clock },
});
console.log(asked.toolCalls[0]?.result);

const daily = await engine.schedule({
  agent: helper,
  input: "What is new today?",
  cron: "0 8 * * 1-5", // or at: "2026-03-03T08:00", every: "2h", when: "every weekday at 8"
  timeZone: "America/New_York",
  missed: "skip",
});
console.log(`first at ${new Date(daily.nextAt ?? 0).toISOString()}`);

clock.step(6 * 3_600_000); // 13:00 in London, 8:00 in New York; the engine looks every second
await engine.recover();
clock.step(19 * 3_600_000); // the next day, 9:00 in Oslo
await engine.recover();

for (const { runs } of (await engine.schedules.list()).toReversed())
  for (const { runId } of runs) console.log((await engine.open(runId)).text);

const { nextAt = 0 } = await engine.schedules.get(daily.id);
console.log(`next at ${new Date(nextAt).toISOString()}`);
await engine.schedules.pause(daily.id);
await engine.close();
