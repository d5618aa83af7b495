import {
  citationSection,
  dateSection,
  defineAgent,
  defineTool,
  joinInstructions,
  run,
  toolsSection,
} from "capstan";
import { reasoningSteps } from "capstan/client";
import { collect, scriptedModel } from "capstan/testing";

const mails = [
  { id: "m1", subject: "Budget 2026", text: "The budget is 7 million.", month: "May" },
  { id: "m2", subject: "Re: Budget 2026", text: "Travel is cut by half.", month: "May" },
  { id: "m3", subject: "Budget, final", text: "Travel is back.", month: "July" },
];

// The model can cite the `contexts` a tool returns. The id identifies the source.
const searchMail = defineTool({
  name: "search_mail",
  description: "Searches mail by month",
  input: { type: "object", properties: { month: { type: "string" } }, required: ["month"] },
  effects: "none",
  execute({ month }) {
    const found = mails.filter((mail) => mail.month === month);
    const contexts = found.map(({ id, subject, text }) => ({
      id,
      content: text,
      source: { title: subject, url: `https://mail.example/${id}` },
    }));
    return { content: `${found.length} mails found.`, contexts };
  },
});

const model = scriptedModel([
  { calls: [{ name: "search_mail", input: { month: "May" } }] },
  { calls: [{ name: "search_mail", input: { month: "July" } }] },
  { text: "The budget is 7 million [1]. Travel was cut, then restored [2, 3], as all agreed [7]." },
]);

// Sections in a custom order; `standardInstructions` includes all of them.
const agent = defineAgent({
  name: "mail",
  model,
  tools: [searchMail],
  instructions: joinInstructions([
    "You read mail for a busy user.",
    dateSection,
    toolsSection,
    ({ context }) => `You work for ${context}.`,
    citationSection,
  ]),
});

const { events, result } = await collect(
  run(agent, "What about the budget?", { context: "Kari Nordmann", timeZone: "Europe/Oslo" }),
);

console.log(result.text);
for (const { n, title, url } of result.citations) console.log(`[${n}] ${title} ${url}`);
for (const event of events) if (event.type === "warning") console.log(event.message);

// A summary of the steps.
for (const { type, iteration, summary } of reasoningSteps(events))
  if (summary) console.log(`${iteration} ${type}: ${summary}`);
