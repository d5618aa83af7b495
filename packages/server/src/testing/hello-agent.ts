import { type Agent, defineAgent } from "capstan";
import { scriptedModel } from "capstan/testing";

/** An agent that says hello, however often it is asked. */
export function helloAgent(name = "helper"): Agent {
  return defineAgent({ name, model: scriptedModel(() => ({ text: "Hello." }), { record: false }) });
}
