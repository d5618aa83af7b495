import { defineAgent } from "capstan";
import { local } from "capstan/engines/local";
import { memory } from "capstan/stores/memory";
import { fakeClock, scriptedModel } from "capstan/testing";
import { expect, it } from "vitest";
import { withOwnOrphans, withProject } from "./session-projects.ts";

it("the schedules of a project are started by its own servers only, however many of others are due", async () => {
  const clock = fakeClock();
  const shared = memory({ clock });
  const agents = defineAgent({ name: "helper", model: scriptedModel(() => ({ text: "Done." })) });
  const open = (folder: string) =>
    local({ store: withProject(withOwnOrphans(shared, { folder }), folder), agents, clock });
  const [boats, trains] = [open("/boats"), open("/trains")];
  const at = clock.now() + 1000;
  for (let count = 0; count < 30; count++) await boats.schedule({ agent: "helper", input: "Sail", at });
  const { id } = await trains.schedule({ agent: "helper", input: "Depart", at: at + 1 });
  await boats.close();
  clock.step(5000);
  await trains.recover();
  const states = (await trains.schedules.list()).map((schedule) => [schedule.id === id, schedule.state]);
  expect(states.filter(([, state]) => state === "ended")).toEqual([[true, "ended"]]);
  expect(states).toHaveLength(31);
  await trains.close();
});
