// The program of serve.ts with a predictable model: it converts 42 km with the child server, and reports how many
// questions it has received. Arguments: the data folder, and a configuration of child servers.
import { join } from "node:path";
import { toPlainText } from "capstan";
import { scriptedModel } from "capstan/testing";
import { bridge } from "../agent.ts";
import { createBridgeService } from "../bridge-service.ts";
import { startChildServers } from "../child-servers.ts";
import { formatTextCall } from "./text-call.ts";

const [, , data = "", file] = process.argv;
const mcp = await startChildServers({ dataFolder: data, ...(file !== undefined && { file }) });

const model = scriptedModel(({ history }) => {
  const [prompt] = history;
  const conversation = prompt?.type === "user" ? toPlainText(prompt.content) : "";
  const questions = [...conversation.matchAll(/^user: (.*)$/gm)].map(([, question]) => question);
  const result = /^tool: TOOL_RESULT[\s\S]*?^CONTENT: (.*)/m.exec(conversation)?.[1];
  if (questions.at(-1)?.includes("heard")) return { text: `I have heard ${questions.length} questions.` };
  if (result !== undefined) return { text: `[Thinking: That is it.]\nThe tool says: ${result}` };
  const call = formatTextCall("mcp_units_convert", { value: 42, from: "km", to: "mi" });
  return { text: `[Thinking: A tool knows.]\n${call}` };
});

const service = createBridgeService({
  agent: await bridge({ model, mcp, web: false }),
  mcp,
  reasoningFile: join(data, "reasoning.log"),
});
await service.stdio().closed;
await service.close();
await mcp.close();
