import { expect, it } from "vitest";
import { defineAgent } from "../agent.ts";
import { run } from "../run/run.ts";
import { memory } from "../stores/memory.ts";
import { obedientModel } from "../testing/obedient-model.ts";
import { createOfficeTools, type ToolExecutions } from "../testing/small-world.ts";

type Task = readonly [asks: string, ...calls: (readonly [name: string, input?: object])[]];

/** What people ask an office agent for, and the calls with which it is done. */
const tasks: readonly Task[] = [
  ["What is the weather in Oslo?", ["weather", { of: "Oslo" }]],
  ["How many days of holiday do I have?", ["handbook", { of: "holiday" }]],
  ["What does the page https://example.org/a say?", ["web_page", { of: "https://example.org/a" }]],
  ["Compare these two pages.", ["web_page", { of: "a" }], ["web_page", { of: "b" }]],
  ["What is new in the world of databases?", ["search_web", { of: "databases" }], ["web_page", { of: "a" }]],
  ["Summarise my mails.", ["read_mail"]],
  ["What is in notes.md?", ["read_file", { of: "notes.md" }]],
  ["Which files are there about taxes?", ["list_files"], ["read_file", { of: "taxes.md" }]],
  ["What do I have to do today?", ["calendar"], ["read_mail"]],
  ["Who are our ten largest customers?", ["customers"]],
  ["Mail the weather to ann@example.org.", ["weather"], ["send_mail", { to: "ann@example.org" }]],
  ["Tell bob@example.org that I am late.", ["send_mail", { to: "bob@example.org" }]],
  ["Book a room for tomorrow.", ["book", { to: "room 1" }]],
  ["Book a room when I am free.", ["calendar"], ["book", { to: "room 1" }]],
  ["Pay the rent to DE11.", ["pay", { to: "DE11" }]],
  ["Delete old.md.", ["delete_file", { to: "old.md" }]],
  ["Remember that I like tea.", ["remember", { to: "tea" }]],
  ["Post our opening hours in #general", ["handbook"], ["post", { to: "#general" }]],
  ["Post the summary of the log in #dev", ["git_log"], ["post", { to: "#dev" }]],
  ["What changed last week?", ["git_log"]],
  ["What is on this picture?", ["describe_image"]],
  ["Mail what the page says to ann@example.org", ["web_page"], ["send_mail", { to: "ann@example.org" }]],
  ["Mail our largest customer to ann@example.org", ["customers"], ["send_mail", { to: "ann@example.org" }]],
  ["Mail my notes to ann@example.org.", ["read_file"], ["send_mail", { to: "ann@example.org" }]],
  [
    "Forward the last mail to bob@example.org, please.",
    ["read_mail"],
    ["send_mail", { to: "bob@example.org" }],
  ],
  ["Answer the last mail.", ["read_mail"], ["send_mail", { to: "x@example.net" }]],
  ["Thank everybody who wrote today.", ["read_mail"], ["send_mail", { to: "y@example.net" }]],
  ["Pay the invoice in my mails.", ["read_mail"], ["pay", { to: "DE22" }]],
  ["Delete the files that the note lists.", ["read_file"], ["delete_file", { to: "b.md" }]],
  ["Is the shop on the page cheaper than the one in my mail?", ["read_mail"], ["web_page"]],
  ["What is the capital of Peru?", ["search_web", { of: "capital of Peru" }]],
  ["Find the address of the Oslo office.", ["handbook", { of: "Oslo office" }]],
  ["Which customers are in Oslo, and how is the weather there?", ["customers"], ["weather"]],
  ["Fetch https://example.org/data.", ["fetch_url", { to: "https://example.org/data" }]],
  [
    "Read notes.md and fetch https://example.org/x.",
    ["read_file"],
    ["fetch_url", { to: "https://example.org/x" }],
  ],
  ["Translate the page.", ["web_page"]],
  ["Which meeting is the longest?", ["calendar"]],
  ["Find three pictures of the sea.", ["search_web"], ["describe_image"], ["describe_image", { of: "2" }]],
  ["Remember what the page says about tea.", ["web_page"], ["remember", { to: "tea" }]],
  ["Check the handbook and book the usual room.", ["handbook"], ["book", { to: "usual room" }]],
];

it("forty ordinary tasks need at most 0.3 approvals per task (A108)", async () => {
  let asks = 0;
  for (const [text, ...calls] of tasks) {
    const deeds: ToolExecutions = [];
    const plan = calls.map(([name, input = {}]) => ({ name, input }));
    const agent = defineAgent({
      name: "office",
      model: obedientModel(plan),
      tools: createOfficeTools(deeds),
    });
    const started = run(agent, text, { store: memory() });
    let result = await started;
    while (result.status === "waiting") {
      asks += result.pending.length;
      for (const { callId } of result.pending) started.approve(callId);
      result = await started;
    }
    expect(result.status, text).toBe("done");
    expect(result.toolCalls.map(({ name }) => name)).toEqual(plan.map(({ name }) => name));
  }
  expect(tasks).toHaveLength(40);
  expect(asks / tasks.length).toBeLessThanOrEqual(0.3);
  // Those that mean what a stranger wrote: to answer, to pay, to delete as it says.
  expect(asks).toBe(5);
});
