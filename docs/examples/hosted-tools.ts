// The provider searches the web. The script stands for its answer; with a key, use "openai/gpt-5-mini" instead.
import { defineAgent, hostedTools, run } from "capstan";
import { scriptedModel } from "capstan/testing";

const model = scriptedModel([
  {
    hosted: [
      {
        ...{ id: "ws_1", kind: "webSearch", input: { query: "high water Bergen today" } },
        outcome: { isError: false, text: "https://tides.example/bergen" },
      },
    ],
    text: "High water in Bergen is at 6:40.",
    citations: [
      { id: "https://tides.example/bergen", title: "Tides in Bergen", url: "https://tides.example/bergen" },
    ],
  },
]);

const agent = defineAgent({
  name: "harbor",
  model,
  tools: [hostedTools.webSearch({ allowedDomains: ["tides.example"] })],
});

const running = run(agent, "When is high water in Bergen?");
for await (const event of running) {
  if (event.type === "tool_call_delta") console.log(`${event.name} …`);
  if (event.type === "tool_call_result")
    console.log(`${event.name}: ${event.status}, hosted: ${event.hosted}`);
}
const { text, citations } = await running;
console.log(text);
for (const { n, title, url } of citations) console.log(`[${n}] ${title} ${url}`);
