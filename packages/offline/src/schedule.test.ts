import { defineAgent } from "capstan";
import { local } from "capstan/engines/local";
import { listSchedules, scheduleTool } from "capstan/schedules";
import { memory } from "capstan/stores/memory";
import { fakeClock } from "capstan/testing";
import { expect, it } from "vitest";
import { offline } from "./offline.ts";

it.each([
  ["Remind me tomorrow at 9 to water the plants", "tomorrow, Friday, 2 January 2026 at 09:00 (Europe/Oslo)"],
  ["remind me in 20 minutes to call Ada", "today, Thursday, 1 January 2026 at 01:20 (Europe/Oslo)"],
])("the offline model schedules %j and repeats it then", async (words, time) => {
  const clock = fakeClock();
  const store = memory({ clock });
  const agent = defineAgent({ name: "helper", model: offline(), tools: [scheduleTool({ store })] });
  const engine = local({ store, agents: agent, clock, getResumeOptions: () => ({ clock }) });
  const options = { session: "chat", clock, timeZone: "Europe/Oslo" };
  expect((await engine.run(agent, words, options)).text).toContain(time);
  const [schedule] = await listSchedules(store);
  clock.step((schedule?.nextAt ?? 0) - clock.now());
  await engine.recover();
  const { text } = await engine.open((await store.listRuns("chat")).at(-1)?.runId ?? "");
  expect(text).toBe(`Reminder: ${words.replace(/^.* to /i, "")}`);
  await engine.close();
});
