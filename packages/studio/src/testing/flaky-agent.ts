import { type Agent, AgentError, defineAgent } from "capstan";
import { scriptedModel } from "capstan/testing";

const hourMs = 3_600_000;

/** An agent whose provider rejects every other request for "Fail", and is overloaded for an hour after "Wait". */
export function createFlakyAgent(): Agent {
  let failures = 0;
  const model = scriptedModel(
    ({ history }) => {
      const input = history.findLast((entry) => entry.type === "user")?.content;
      const busy = "The provider answered 503: overloaded.";
      if (input === "Wait")
        return { error: new AgentError("model_overloaded", busy, { retryAfterMs: hourMs }) };
      if (input !== "Fail" || ++failures % 2 === 0) return { text: "It works again." };
      const message = "The provider answered 401: the key has expired.";
      return { text: "It wor", error: new AgentError("model_auth", message) };
    },
    { id: "flaky" },
  );
  return defineAgent({ name: "flaky", model });
}
