import { type Agent, defineAgent } from "capstan";
import { scriptedModel } from "capstan/testing";

/** Creates an agent that always answers "Hello.". */
export function createHelloAgent(name = "helper"): Agent {
  return defineAgent({ name, model: scriptedModel(() => ({ text: "Hello." }), { record: false }) });
}
