import { defineAgent, run } from "capstan";
import { withRateLimit } from "capstan/models/rate-limit";
import { memory } from "capstan/stores/memory";
import { scriptedModel } from "capstan/testing";

// Use the store of all your processes, such as postgres(pool), and your model.
const store = memory();
const model = scriptedModel(() => ({ text: "Hello." }));

const limited = withRateLimit(model, {
  store,
  key: "team-a",
  requests: { minute: 2 },
  tokens: { minute: 200_000 },
});

const policy = { modelRetry: { attempts: 1, patienceMs: 0 } };
const agent = defineAgent({ name: "helper", model: limited, policy });
for (let count = 1; count <= 3; count++) {
  const { text, error } = await run(agent, "Hi");
  console.log(error?.code ?? text);
}
