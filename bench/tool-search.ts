// Measures the search for tools: how many tokens a turn has with 500 tools, and for how many of 200 sentences the right
// tool is found. Deterministic. Writes the tables of docs/tool-search.md with `--write`.
import { readFileSync, writeFileSync } from "node:fs";
import { offline } from "@capstan/offline";
import { defineAgent, type Fact, type Model, type ModelRequest, run } from "capstan";
import { scriptedModel } from "capstan/testing";
import { readCatalog, readSentences, type Sentence } from "./tool-search/catalog.ts";

/** The place of the right tool among the found ones, for each sentence; -1 if it is not among them. */
type Ranks = readonly number[];

export type ToolSearchResults = {
  readonly tokens: { readonly all: readonly number[]; readonly deferred: readonly number[] };
  readonly ranks: { readonly queries: Ranks; readonly sentences: Ranks };
  /** How often the offline model called the right tool. */
  readonly offline: { readonly all: number; readonly deferred: number };
  readonly count: number;
};

export async function measureToolSearch(sentences: readonly Sentence[]): Promise<ToolSearchResults> {
  return {
    tokens: { all: await measureTokens(false), deferred: await measureTokens(true) },
    ranks: {
      queries: await rankAll(sentences, ({ query }) => query),
      sentences: await rankAll(sentences, ({ text }) => text),
    },
    offline: { all: await countRight(sentences, false), deferred: await countRight(sentences, true) },
    count: sentences.length,
  };
}

/** The usual estimate: four characters per token. */
const estimateRequestTokens = ({ instructions, history, tools }: ModelRequest): number =>
  Math.ceil(JSON.stringify([instructions, history, tools]).length / 4);

/** Returns the tokens of each request of a run that sends one mail. With deferred tools, it searches first. */
async function measureTokens(defer: boolean): Promise<readonly number[]> {
  const tokens: number[] = [];
  const search = { name: "search_tools", input: { query: "send email message" } };
  const send = {
    name: "mail_send_message",
    input: { to: ["priya@example.com"], subject: "Samples", body: "Here." },
  };
  const calls = [...(defer ? [search] : []), send];
  const script = scriptedModel(({ history }) => {
    const next = calls[history.filter(({ type }) => type === "result").length];
    return next ? { calls: [next] } : { text: "Sent." };
  });
  const model: Model = {
    id: script.id,
    stream(request, options) {
      tokens.push(estimateRequestTokens(request));
      return script.stream(request, options);
    },
  };
  await run(createAssistant(model, defer), "Write to Priya that the samples arrived");
  return tokens;
}

const createAssistant = (model: Model, defer: boolean, needsNothing = false) =>
  defineAgent({
    name: "assistant",
    model,
    tools: readCatalog({ defer, needsNothing }),
    policy: { deferToolsAbove: "unlimited" },
  });

async function rankAll(
  sentences: readonly Sentence[],
  toQuery: (sentence: Sentence) => string,
): Promise<Ranks> {
  const model = scriptedModel(({ history }) => {
    const [said] = history;
    const query = said?.type === "user" ? String(said.content) : "";
    return history.length > 1 ? { text: "Found." } : { calls: [{ name: "search_tools", input: { query } }] };
  });
  const agent = createAssistant(model, true);
  const ranks: number[] = [];
  for (const sentence of sentences) {
    const facts: Fact[] = [];
    await run(agent, toQuery(sentence), {
      hooks: { onEvent: (event) => void ("seq" in event && facts.push(event)) },
    });
    const found = facts.flatMap((fact) => (fact.type === "tool_call_result" ? (fact.discovered ?? []) : []));
    ranks.push(found.findIndex(({ name }) => name === sentence.tool));
  }
  return ranks;
}

async function countRight(sentences: readonly Sentence[], defer: boolean): Promise<number> {
  // The offline model asks for what is missing instead of calling a tool.
  const agent = createAssistant(offline(), defer, true);
  let right = 0;
  for (const { query, tool } of sentences) {
    const { toolCalls } = await run(agent, query, { policy: { maxTurns: 3, finalTurn: "keep-tools" } });
    if (toolCalls.find(({ name }) => name !== "search_tools")?.name === tool) right += 1;
  }
  return right;
}

const addUp = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const formatWhole = (number: number): string => number.toLocaleString("en");

/** Formats the results as the tables of the page. */
export function formatToolSearchReport({ tokens, ranks, offline, count }: ToolSearchResults): string {
  const { all, deferred } = tokens;
  const share = (found: number) => `${found} of ${count}`;
  const best = (list: Ranks) => share(list.filter((rank) => rank === 0).length);
  const among = (list: Ranks) => share(list.filter((rank) => rank >= 0).length);
  return [
    "| a run that sends one mail, estimated tokens | all 500 tools sent | deferred |",
    "| --- | --- | --- |",
    `| first request | ${formatWhole(all[0] ?? 0)} | ${formatWhole(deferred[0] ?? 0)} |`,
    `| last request | ${formatWhole(all.at(-1) ?? 0)} | ${formatWhole(deferred.at(-1) ?? 0)} |`,
    `| requests | ${all.length} | ${deferred.length} |`,
    `| all requests together | ${formatWhole(addUp(all))} | ${formatWhole(addUp(deferred))} |`,
    "",
    "| what is searched for | right tool first | right tool among 5 |",
    "| --- | --- | --- |",
    `| a query that a language model wrote for the sentence | ${best(ranks.queries)} | ${among(ranks.queries)} |`,
    `| the user's sentence itself | ${best(ranks.sentences)} | ${among(ranks.sentences)} |`,
    "",
    "| the offline model, asked in the words of the query, calls the right tool | |",
    "| --- | --- |",
    `| all 500 tools sent | ${share(offline.all)} |`,
    `| deferred: it searches, and chooses among the 5 found | ${share(offline.deferred)} |`,
  ].join("\n");
}

const page = new URL("../docs/tool-search.md", import.meta.url);
const tables = /(?<=<!-- measured -->\n)[\s\S]*?(?=\n<!-- end -->)/;

/** Returns the tables as the page has them. */
export function readPageTables(): string {
  return tables.exec(readFileSync(page, "utf8"))?.[0] ?? "";
}

if (import.meta.main) {
  const report = formatToolSearchReport(await measureToolSearch(readSentences()));
  console.log(report);
  if (process.argv.includes("--write"))
    writeFileSync(
      page,
      readFileSync(page, "utf8").replace(tables, () => report),
    );
}
