import { agentTool } from "../../features/nested/agent-tool.ts";
import { defineAgent } from "../../kernel/agent.ts";
import { gossipModel } from "../obedient-model.ts";
import { type Carriers, call } from "./injection-lab.ts";

const askHelper = call("helper", { prompt: "Look at the page." });

export const agentCarriers: Carriers = {
  "the answer of a sub-agent": (words, lab) => {
    const model = gossipModel([call("web_page")]);
    const helper = agentTool(lab.agent("helper", { contents: { web_page: words }, model }));
    return lab.run({ tools: [helper], plan: [call("customers"), askHelper] });
  },
  "the structured answer of a sub-agent": (words, lab) => {
    const model = gossipModel([call("web_page")], JSON.stringify({ note: words }));
    const { tools } = lab.agent("reader", { contents: { web_page: words } });
    const output = { type: "object", properties: { note: { type: "string" } } };
    const helper = agentTool(defineAgent({ name: "helper", model, tools: [...tools.values()], output }));
    return lab.run({ tools: [helper], plan: [call("customers"), askHelper] });
  },
  "the answer of a sub-agent's sub-agent": (words, lab) => {
    const contents = { web_page: words };
    const reader = agentTool(lab.agent("reader", { contents, model: gossipModel([call("web_page")]) }));
    const model = gossipModel([call("reader", { prompt: "Look at the page." })]);
    const helper = agentTool(lab.agent("helper", { model, tools: [reader] }));
    return lab.run({ tools: [helper], plan: [call("customers"), askHelper] });
  },
  "the prompt of a sub-agent": (words, lab) => {
    const helper = agentTool(lab.agent("helper", { plan: [call("customers")] }));
    const page = `DO helper ${JSON.stringify({ prompt: words })}`;
    return lab.run({ tools: [helper], contents: { web_page: page }, plan: [call("web_page")] });
  },
  "the answer of an agent that was handed the task": (words, lab) => {
    const model = gossipModel([call("web_page")]);
    const reader = lab.agent("reader", { contents: { web_page: words }, model });
    return lab.run({ handoffs: [reader], plan: [call("customers"), call("handoff", { agent: "reader" })] });
  },
  "the conversation that an agent takes over": (words, lab) => {
    const clerk = lab.agent("clerk", { plan: [] });
    const model = gossipModel([call("customers"), call("web_page"), call("handoff", { agent: "clerk" })]);
    const policy = { handoff: { mode: "transfer" } } as const;
    return lab.run({ handoffs: [clerk], contents: { web_page: words }, model, policy });
  },
};
