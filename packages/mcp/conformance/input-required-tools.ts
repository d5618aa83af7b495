// Fixture tools and a prompt that need input from the client: elicitation, sampling or roots. The SDK sends the requests in
// the result (2026-07-28) or as requests of the server (2025 revisions).
import { randomBytes } from "node:crypto";
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  fromJsonSchema,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type RequestStateCodec,
  type ServerContext,
} from "@modelcontextprotocol/server";

type Answer = CallToolResult | InputRequiredResult;
type Ask = (context: ServerContext, input: Readonly<Record<string, string>>) => Answer | Promise<Answer>;
type Questions = NonNullable<InputRequiredResult["inputRequests"]>;
type Form = Parameters<typeof inputRequired.elicit>[0]["requestedSchema"];
type Step = { readonly step: number };

/** One key for all requests: the state may come back to another server object. */
export const requestState: RequestStateCodec<Step> = createRequestStateCodec<Step>({ key: randomBytes(32) });

const toTextResult = (value: string): CallToolResult => ({ content: [{ type: "text", text: value }] });
const createForm = (properties: object, required: readonly string[]): Form =>
  ({ type: "object", properties, required }) as Form;
const elicit = (message: string, requestedSchema: Form) => inputRequired.elicit({ message, requestedSchema });
const createSampling = (prompt: string, maxTokens: number) =>
  inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: prompt } }],
    maxTokens,
  });

const askName = elicit("What is your name?", createForm({ name: { type: "string" } }, ["name"]));
const confirm = elicit("Please confirm", createForm({ ok: { type: "boolean" } }, ["ok"]));

const getResponse = (context: ServerContext, key: string) =>
  inputResponse(context.mcpReq.inputResponses, key);
const isAnswered = (context: ServerContext, questions: Questions): boolean =>
  Object.keys(questions).every((key) => getResponse(context, key).kind !== "missing");

/** Asks until every request is answered; `finish` builds the result. */
const askUntilAnswered =
  (questions: Questions, finish: (context: ServerContext) => CallToolResult): Ask =>
  (context) =>
    isAnswered(context, questions) ? finish(context) : inputRequired({ inputRequests: questions });

const askWithState =
  (questions: Questions): Ask =>
  async (context) => {
    if (context.mcpReq.requestState<Step>()?.step === 1 && isAnswered(context, questions))
      return toTextResult("state-ok");
    return inputRequired({ inputRequests: questions, requestState: await requestState.mint({ step: 1 }) });
  };

function formatElicitation(context: ServerContext, key: string): string {
  const view = getResponse(context, key);
  if (view.kind !== "elicit") throw new Error(`The answer to "${key}" is not an elicitation result.`);
  return `action=${view.action}, content=${JSON.stringify(view.content ?? {})}`;
}

function formatSampling(context: ServerContext, key: string): string {
  const view = getResponse(context, key);
  if (view.kind !== "sampling") throw new Error(`The answer to "${key}" is not a sampling result.`);
  return [view.result.content]
    .flat()
    .map((part) => (part.type === "text" ? part.text : part.type))
    .join("");
}

const greetByName: Ask = (context) => {
  const name = acceptedContent<{ name: string }>(context.mcpReq.inputResponses, "user_name")?.name;
  return name === undefined
    ? inputRequired({ inputRequests: { user_name: askName } })
    : toTextResult(`Hello, ${name}!`);
};

const askTwice: Ask = async (context) => {
  const steps = [
    { step1: elicit("Step 1: What is your name?", createForm({ name: { type: "string" } }, ["name"])) },
    {
      step2: elicit(
        "Step 2: What is your favorite color?",
        createForm({ color: { type: "string" } }, ["color"]),
      ),
    },
  ];
  const done = context.mcpReq.requestState<Step>()?.step ?? 0;
  const step = done > 0 && getResponse(context, `step${done}`).kind === "missing" ? done - 1 : done;
  const inputRequests = steps[step];
  if (!inputRequests) return toTextResult("Both steps are done.");
  return inputRequired({ inputRequests, requestState: await requestState.mint({ step: step + 1 }) });
};

/** Asks only for what the client supports. */
const askByCapability: Ask = (context) => {
  const envelope: { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } =
    context.mcpReq.envelope ?? {};
  const able = envelope[CLIENT_CAPABILITIES_META_KEY] ?? {};
  const inputRequests: Questions = {
    ...(able.elicitation && { user_name: askName }),
    ...(able.sampling && { greeting: createSampling("Generate a greeting", 50) }),
  };
  return Object.keys(inputRequests).length === 0 || isAnswered(context, inputRequests)
    ? toTextResult("Nothing is missing.")
    : inputRequired({ inputRequests });
};

const defaults = createForm(
  {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  },
  [],
);

const createOptions = (word: string) => [
  { const: "value1", title: `First ${word}` },
  { const: "value2", title: `Second ${word}` },
  { const: "value3", title: `Third ${word}` },
];
const options = ["option1", "option2", "option3"];
const enums = createForm(
  {
    untitledSingle: { type: "string", enum: options },
    titledSingle: { type: "string", oneOf: createOptions("Option") },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: { type: "array", items: { type: "string", enum: options } },
    titledMulti: { type: "array", items: { anyOf: createOptions("Choice") } },
  },
  [],
);
const person = createForm({ username: { type: "string" }, email: { type: "string" } }, ["username", "email"]);

const formatCompleted = (context: ServerContext) =>
  toTextResult(`Elicitation completed: ${formatElicitation(context, "answer")}`);

const tools: Readonly<Record<string, Ask>> = {
  test_sampling: (context, input) =>
    askUntilAnswered({ answer: createSampling(input.prompt ?? "", 100) }, () =>
      toTextResult(`LLM response: ${formatSampling(context, "answer")}`),
    )(context, input),
  test_elicitation: (context, input) =>
    askUntilAnswered({ answer: elicit(input.message ?? "", person) }, () =>
      toTextResult(`User response: ${formatElicitation(context, "answer")}`),
    )(context, input),
  test_elicitation_sep1034_defaults: askUntilAnswered(
    { answer: elicit("Check the form", defaults) },
    formatCompleted,
  ),
  test_elicitation_sep1330_enums: askUntilAnswered({ answer: elicit("Choose", enums) }, formatCompleted),
  test_missing_capability: askUntilAnswered({ answer: createSampling("Hello", 10) }, () =>
    toTextResult("The client can sample."),
  ),
  test_streaming_elicitation: askUntilAnswered({ user_name: askName }, () => toTextResult("Answered.")),
  test_input_required_result_elicitation: greetByName,
  test_input_required_result_sampling: askUntilAnswered(
    { capital_question: createSampling("What is the capital of France?", 100) },
    (context) => toTextResult(formatSampling(context, "capital_question")),
  ),
  test_input_required_result_list_roots: askUntilAnswered(
    { client_roots: inputRequired.listRoots() },
    (context) => toTextResult(JSON.stringify(getResponse(context, "client_roots"))),
  ),
  test_input_required_result_request_state: askWithState({ confirm }),
  test_input_required_result_tampered_state: askWithState({ confirm }),
  test_input_required_result_multiple_inputs: askWithState({
    user_name: askName,
    greeting: createSampling("Generate a greeting", 50),
    client_roots: inputRequired.listRoots(),
  }),
  test_input_required_result_multi_round: askTwice,
  test_input_required_result_capabilities: askByCapability,
};

const strings = fromJsonSchema<Record<string, string>>({
  type: "object",
  properties: { prompt: { type: "string" }, message: { type: "string" } },
});

/** Registers the tools and the prompt. */
export function addInputRequiredTools(server: McpServer): void {
  for (const [name, ask] of Object.entries(tools))
    server.registerTool(name, { description: `Fixture ${name}.`, inputSchema: strings }, (input, context) =>
      ask(context, input),
    );
  const description = "A prompt that asks for its context first.";
  server.registerPrompt("test_input_required_result_prompt", { description }, (context) => {
    const about = acceptedContent<{ context: string }>(
      context.mcpReq.inputResponses,
      "user_context",
    )?.context;
    if (about !== undefined)
      return { messages: [{ role: "user", content: { type: "text", text: `Use this context: ${about}` } }] };
    const question = elicit(
      "What context should the prompt use?",
      createForm({ context: { type: "string" } }, ["context"]),
    );
    return inputRequired({ inputRequests: { user_context: question } });
  });
}
