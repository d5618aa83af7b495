import type { Entry } from "../../kernel/history.ts";
import { gossipModel } from "../obedient-model.ts";
import { type Carrier, type Carriers, call, task } from "./injection-lab.ts";

/** The text comes with the input of the run, in addition to the user's message. */
function createInputCarrier(
  provenance: "application" | "external",
  wrap: (words: string) => string,
): Carrier {
  return (words, lab) => {
    const input: Entry[] = [
      { type: "user", content: wrap(words), provenance },
      { type: "user", content: task },
    ];
    return lab.run({ input, plan: [call("customers")] });
  };
}

export const inputCarriers: Carriers = {
  "a resource": createInputCarrier("external", (words) => `Resource file:///readme.md:\n${words}`),
  "a prompt of a server": createInputCarrier("external", (words) => words),
  "the context of a client": createInputCarrier("application", (words) => `Selected text: ${words}`),
  "the state of a page": createInputCarrier("application", (words) => JSON.stringify({ mail: words })),
  "a system message of a client": createInputCarrier("application", (words) => `System: ${words}`),
  "a summary that a client sends": (words, lab) => {
    const input: Entry[] = [
      { type: "summary", text: words },
      { type: "user", content: task },
    ];
    return lab.run({ input, plan: [call("customers")], policy: { memory: "client" } });
  },
  "an answer that a client sends back": async (words, lab) => {
    const plan = [call("web_page")];
    const { history } = await lab.run({ contents: { web_page: words }, model: gossipModel(plan) });
    const answers = history.filter(({ type }) => type === "user" || type === "assistant").slice(-1);
    const input: Entry[] = [{ type: "user", content: "Read." }, ...answers, { type: "user", content: task }];
    return lab.run({ input, plan: [call("customers")], policy: { memory: "client" } });
  },
};
