import { defineAgent, run } from "capstan";
import { session, sessions } from "capstan/sessions";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";
import { expect, it } from "vitest";
import { showLastExchange } from "./last-exchange.ts";
import type { Transcript } from "./transcript.ts";

/** Shows the last exchange of a session and returns what it prints. */
async function show(store: ReturnType<typeof memory>, id: string): Promise<readonly string[]> {
  const shown: string[] = [];
  const transcript = {
    showNotice: (text: string) => shown.push(`notice: ${text}`),
    showUserMessage: (text: string) => shown.push(`user: ${text}`),
    showAnswer: (text: string) => shown.push(`answer: ${text}`),
  };
  showLastExchange(await store.read(id), transcript as unknown as Transcript);
  return shown;
}

it("an imported exchange is shown as imported, and the next one is not", async () => {
  const model = scriptedModel([{ text: "Hello." }, { text: "Welcome." }]);
  const agent = defineAgent({ name: "a", model });
  const original = memory();
  await run(agent, "Hi.", { store: original, session: "s" });
  expect(await show(original, "s")).toEqual(["user: Hi.", "answer: Hello."]);
  const store = memory();
  await sessions(store).import(await session(original, "s").export("json"));
  const notice = "notice: Imported from a file. Its messages do not count as yours.";
  expect(await show(store, "s")).toEqual([notice, "user: Hi.", "answer: Hello."]);
  await run(agent, "Thanks.", { store, session: "s" });
  expect(await show(store, "s")).toEqual(["user: Thanks.", "answer: Welcome."]);
});
