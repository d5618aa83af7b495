// A research agent that searches, reads and cites: `node research-agent.ts "When is high water in Bergen?"`.
import { planTool, webFetch, webSearch } from "@capstan/tools";
import { defineAgent, run } from "capstan";
import { defaultModel } from "capstan/models";

const researcher = defineAgent({
  name: "researcher",
  model: await defaultModel(),
  instructions: `You research questions on the web. Search, read the best pages, and compare what they say.
Cite the passage for each statement as [1]. Say so when the sources disagree or do not answer the question.`,
  tools: [webSearch(), webFetch(), planTool()],
  policy: { maxTurns: 20, budget: { cost: 1 } },
});

const research = run(researcher, process.argv.slice(2).join(" "));
for await (const event of research) {
  if (event.type === "tool_call_start") console.error(`${event.name} ${JSON.stringify(event.arguments)}`);
  if (event.type === "content_delta") process.stdout.write(event.delta);
}
const { status, citations, cost } = await research;
console.log();
for (const { n, title, url } of citations) console.log(`[${n}] ${title} ${url}`);
console.error(`${status}, $${cost?.toFixed(4) ?? "?"}`);
