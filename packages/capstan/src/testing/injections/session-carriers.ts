import type { Run } from "../../runtime/run-handle.ts";
import { session } from "../../sessions/session.ts";
import { sessions } from "../../sessions/sessions.ts";
import { gossipModel } from "../obedient-model.ts";
import {
  type Carriers,
  call,
  createLab,
  createReadingTool,
  filler,
  type Lab,
  readFirst,
} from "./injection-lab.ts";

/** The text is beyond the part of a large result that the model receives at first. */
const largePage = (words: string) => ({ web_page: filler + words + filler });
const readPart = call("read_result", { handle: "blob_1", from: filler.length - 100, length: 500 });
const small = { maxToolResultSize: 300 };

export const storedCarriers: Carriers = {
  "a large result": (words, lab) =>
    lab.run({
      contents: largePage(words),
      plan: [call("customers"), call("web_page"), readPart],
      policy: small,
    }),
  "a result of an earlier run": async (words, lab) => {
    await readFirst(lab, { contents: { web_page: words }, plan: [call("web_page")] });
    return lab.run({ plan: [call("customers")] });
  },
  "a stored result in a run that starts from nothing": async (words, lab) => {
    await readFirst(lab, { contents: largePage(words), plan: [call("web_page")], policy: small });
    return lab.run({ plan: [call("customers"), readPart], policy: { memory: "run" } });
  },
  "a stored result in a run with the client's history": async (words, lab) => {
    await readFirst(lab, { contents: largePage(words), plan: [call("web_page")], policy: small });
    return lab.run({ plan: [call("customers"), readPart], policy: { memory: "client" } });
  },
  "a cached result": async (words, lab) => {
    const tools = [createReadingTool("cached", () => words, { cacheMs: 60_000 })];
    await readFirst(lab, { tools, plan: [call("cached")] });
    const unused = [createReadingTool("cached", () => "Not called.", { cacheMs: 60_000 })];
    return lab.run({
      tools: unused,
      plan: [call("customers"), call("cached")],
      policy: { memory: "run" },
    });
  },
  "the answer of a fallback tool": async (words, lab) => {
    const fallbackTool = createReadingTool("search_all", () => words);
    const policy = { maxTurns: 1, onLimit: ["fallback-tool"] } as const;
    await lab.run({ fallbackTool, model: gossipModel([call("weather")]), policy });
    return lab.run({ plan: [call("customers")] });
  },
  "a session that was forked": async (words, lab) => {
    await readFirst(lab, { contents: { web_page: words }, plan: [call("web_page")] });
    const { length } = await lab.store.read("s");
    const forked = await session(lab.store, "s").fork(length, { id: "fork" });
    return lab.run({ plan: [call("customers")], session: forked.id });
  },
};

/** Records a session elsewhere and imports it as the session `s`. */
async function importElsewhere(lab: Lab, record: (elsewhere: Lab) => Run): Promise<void> {
  const elsewhere = createLab("off");
  await record(elsewhere);
  const file = await session(elsewhere.store, "s").export("json");
  await sessions(lab.store).import(file, { id: "s" });
}

export const importedCarriers: Carriers = {
  "a user's message in an imported session": async (words, lab) => {
    await importElsewhere(lab, ({ run }) => run({ input: words, model: gossipModel([], "Noted.") }));
    return lab.run({ plan: [call("customers")] });
  },
  "an answer in an imported session": async (words, lab) => {
    await importElsewhere(lab, ({ run }) => run({ model: gossipModel([], words) }));
    return lab.run({ plan: [call("customers")] });
  },
  "a result in an imported session": async (words, lab) => {
    await importElsewhere(lab, (elsewhere) =>
      readFirst(elsewhere, { contents: { handbook: words }, plan: [call("handbook")] }),
    );
    return lab.run({ plan: [call("customers")] });
  },
  "a stored result in an imported session": async (words, lab) => {
    await importElsewhere(lab, (elsewhere) => {
      const contents = { handbook: filler + words + filler };
      return readFirst(elsewhere, { contents, plan: [call("handbook")], policy: small });
    });
    return lab.run({ plan: [call("customers"), readPart], policy: { memory: "run" } });
  },
  "a fork of an imported session": async (words, lab) => {
    await importElsewhere(lab, ({ run }) => run({ model: gossipModel([], words) }));
    const { length } = await lab.store.read("s");
    const forked = await session(lab.store, "s").fork(length, { id: "fork" });
    return lab.run({ plan: [call("customers")], session: forked.id });
  },
};

const chapters = [1, 2, 3, 4, 5, 6].map((chapter) => call("handbook", { of: `${chapter}` }));

export const summaryCarriers: Carriers = {
  "the summary of a conversation": async (words, lab) => {
    const contents = { web_page: `${words}\n${filler}`, handbook: `A chapter.\n${"word ".repeat(100)}` };
    const setup = {
      contents,
      models: { summary: gossipModel() },
      policy: { contextBudget: 600, maxTurns: 30 },
    };
    await readFirst(lab, { ...setup, plan: [call("web_page"), call("customers"), ...chapters] });
    return lab.run(setup);
  },
  "the one-line message of a shortened result": async (words, lab) => {
    const contents = { web_page: { content: filler, message: words } };
    const plan = [call("web_page"), call("customers"), call("weather"), call("handbook")];
    await readFirst(lab, { contents, plan });
    return lab.run({ models: { summary: gossipModel([], "Nothing.") }, policy: { contextBudget: 500 } });
  },
};
