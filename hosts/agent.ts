import { type Agent, defineAgent, type Model } from "capstan";

let release: () => void = () => undefined;
let stops = 0;

/** Obeys the last word of the user, so that the tests control a model in another process. */
const model: Model = {
  id: "obedient",
  async *stream({ history }, { signal }) {
    const last = history.findLast(({ type }) => type === "user");
    const word = last?.type === "user" ? String(last.content) : "";
    if (word === "stream") {
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      yield [{ type: "text", text: "first, " }];
      await released;
      yield [{ type: "text", text: "last" }];
    } else if (word === "hang") {
      yield [{ type: "text", text: "hanging" }];
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      stops++;
    } else if (word === "release") {
      release();
      yield [{ type: "text", text: "released" }];
    } else yield [{ type: "text", text: `${stops} stops` }];
    yield [{ type: "finish", reason: "end" }];
  },
};

export const helper: Agent = defineAgent({ name: "helper", model });
