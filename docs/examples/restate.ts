import { restate } from "@capstan/restate";
import { AgentError, defineAgent } from "capstan";
import { sqlite } from "capstan/stores/sqlite";
import { scriptedModel } from "capstan/testing";

const agent = defineAgent({ name: "greeter", model: scriptedModel([{ text: "Hello from a worker." }]) });

const store = sqlite(process.env.CAPSTAN_STORE ?? ":memory:"); // workers on several machines share a Postgres
const engine = restate({
  store,
  agents: agent,
  ingress: { url: process.env.RESTATE_INGRESS ?? "http://127.0.0.1:8080" },
});

try {
  // A worker: serves the endpoint that Restate calls, and tells Restate where it is.
  const { url } = await engine.listen({ host: "127.0.0.1" });
  await engine.register({ adminUrl: process.env.RESTATE_ADMIN ?? "http://127.0.0.1:9070", url });

  // A client: this process or any other one, with or without `listen`.
  const { runId } = await engine.enqueue(agent, "Say hello.");
  const result = await engine.open(runId);
  console.log(`${result.status}: ${result.text}`);
} catch (error) {
  if (!(error instanceof AgentError)) throw error;
  console.log(`${error.code}: ${error.message}`);
} finally {
  await engine.close();
  await store.close();
}
