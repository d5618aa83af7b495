// The client under test. The suite starts it once per scenario, with the server's URL as the last argument, the scenario's
// name in MCP_CONFORMANCE_SCENARIO and its data in MCP_CONFORMANCE_CONTEXT.
import { type ConformanceConnection, connect, type Identity } from "./connect.ts";

type ToolCall = { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
type Context = {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly toolCalls?: readonly ToolCall[];
};
type Scenario = (connection: ConformanceConnection, context: Context) => Promise<unknown>;

const listOnly: Scenario = () => Promise.resolve();

const callEach: Scenario = async ({ tools, call }) => {
  for (const name of tools.keys()) await call(name, {});
};

const scenarios: Readonly<Record<string, Scenario>> = {
  initialize: listOnly,
  "json-schema-ref-no-deref": listOnly,
  "request-metadata": listOnly,
  tools_call: ({ call }) => call("add_numbers", { a: 5, b: 3 }),
  "elicitation-sep1034-client-defaults": callEach,
  "sse-retry": callEach,
  "sep-2322-client-request-state": async ({ tools, call }) => {
    for (const name of tools.keys()) {
      // One of its answers lacks the `resultType` that a server of 2026-07-28 must send: we refuse that answer, and
      // the scenario only wants that we do not take it for a question.
      const answered = call(name, {});
      await (name === "test_mrtr_no_result_type" ? answered.catch(() => undefined) : answered);
    }
  },
  "http-standard-headers": async (connection, context) => {
    await callEach(connection, context);
    await connection.readResources();
    await connection.getPrompts();
  },
  "http-custom-headers": async ({ call }, { toolCalls = [] }) => {
    for (const { name, arguments: input } of toolCalls) await call(name, input);
  },
  "http-invalid-tool-headers": async ({ tools, call }) => {
    for (const name of tools.keys()) await call(name, { region: "us-west1" });
  },
  "json-schema-2020-12-preservation": ({ tools, call }) =>
    call("json_schema_echo", { schema: tools.get("json_schema_2020_12_tool") }),
};

function getIdentity(scenario: string, { client_id, client_secret }: Context): Identity {
  if (scenario === "auth/basic-cimd")
    return { clientMetadataUrl: "https://conformance-test.local/client-metadata.json" };
  return {
    ...(client_id !== undefined && { clientId: client_id }),
    ...(client_secret !== undefined && { clientSecret: client_secret }),
  };
}

async function main(): Promise<void> {
  const url = process.argv.at(-1) ?? "";
  const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
  const context: Context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
  const runScenario = scenario.startsWith("auth/") ? callEach : scenarios[scenario];
  if (!runScenario)
    throw new Error(`No scenario named "${scenario}" is known here. Add it to client-under-test.ts.`);

  const connection = await connect(url, getIdentity(scenario, context));
  try {
    await runScenario(connection, context);
  } finally {
    await connection.close();
  }
}

await main();
