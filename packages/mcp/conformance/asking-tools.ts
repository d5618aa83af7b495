// The tools and the prompt of the runner that need something from the client first: an answer of a person, of a
// model, or its roots. They are written once: 2026-07-28 carries the question in the result, the 2025 era as a request.
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

/** One key for all requests: the state comes back to another server object than the one that gave it. */
export const requestState: RequestStateCodec<Step> = createRequestStateCodec<Step>({ key: randomBytes(32) });

const text = (value: string): CallToolResult => ({ content: [{ type: "text", text: value }] });
const form = (properties: object, required: readonly string[]): Form =>
  ({ type: "object", properties, required }) as Form;
const elicit = (message: string, requestedSchema: Form) => inputRequired.elicit({ message, requestedSchema });
const sample = (prompt: string, maxTokens: number) =>
  inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: prompt } }],
    maxTokens,
  });

const askName = elicit("What is your name?", form({ name: { type: "string" } }, ["name"]));
const confirm = elicit("Please confirm", form({ ok: { type: "boolean" } }, ["ok"]));

const respond = (context: ServerContext, key: string) => inputResponse(context.mcpReq.inputResponses, key);
const isAnswered = (context: ServerContext, questions: Questions): boolean =>
  Object.keys(questions).every((key) => respond(context, key).kind !== "missing");

/** Asks until every question has an answer; `finish` turns the answers into the result. */
const asking =
  (questions: Questions, finish: (context: ServerContext) => CallToolResult): Ask =>
  (context) =>
    isAnswered(context, questions) ? finish(context) : inputRequired({ inputRequests: questions });

const withState =
  (questions: Questions): Ask =>
  async (context) => {
    if (context.mcpReq.requestState<Step>()?.step === 1 && isAnswered(context, questions))
      return text("state-ok");
    return inputRequired({ inputRequests: questions, requestState: await requestState.mint({ step: 1 }) });
  };

function elicited(context: ServerContext, key: string): string {
  const view = respond(context, key);
  if (view.kind !== "elicit") throw new Error(`The answer to "${key}" is not the answer of a person.`);
  return `action=${view.action}, content=${JSON.stringify(view.content ?? {})}`;
}

function sampled(context: ServerContext, key: string): string {
  const view = respond(context, key);
  if (view.kind !== "sampling") throw new Error(`The answer to "${key}" is not the answer of a model.`);
  return [view.result.content]
    .flat()
    .map((part) => (part.type === "text" ? part.text : part.type))
    .join("");
}

const greetByName: Ask = (context) => {
  const name = acceptedContent<{ name: string }>(context.mcpReq.inputResponses, "user_name")?.name;
  return name === undefined
    ? inputRequired({ inputRequests: { user_name: askName } })
    : text(`Hello, ${name}!`);
};

const twoRounds: Ask = async (context) => {
  const steps = [
    { step1: elicit("Step 1: What is your name?", form({ name: { type: "string" } }, ["name"])) },
    { step2: elicit("Step 2: What is your favorite color?", form({ color: { type: "string" } }, ["color"])) },
  ];
  const done = context.mcpReq.requestState<Step>()?.step ?? 0;
  const step = done > 0 && respond(context, `step${done}`).kind === "missing" ? done - 1 : done;
  const inputRequests = steps[step];
  if (!inputRequests) return text("Both steps are done.");
  return inputRequired({ inputRequests, requestState: await requestState.mint({ step: step + 1 }) });
};

/** Only what the client said it can do may be asked of it. */
const byCapability: Ask = (context) => {
  const envelope: { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } =
    context.mcpReq.envelope ?? {};
  const able = envelope[CLIENT_CAPABILITIES_META_KEY] ?? {};
  const inputRequests: Questions = {
    ...(able.elicitation && { user_name: askName }),
    ...(able.sampling && { greeting: sample("Generate a greeting", 50) }),
  };
  return Object.keys(inputRequests).length === 0 || isAnswered(context, inputRequests)
    ? text("Nothing is missing.")
    : inputRequired({ inputRequests });
};

const defaults = form(
  {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  },
  [],
);

const titled = (word: string) => [
  { const: "value1", title: `First ${word}` },
  { const: "value2", title: `Second ${word}` },
  { const: "value3", title: `Third ${word}` },
];
const options = ["option1", "option2", "option3"];
const enums = form(
  {
    untitledSingle: { type: "string", enum: options },
    titledSingle: { type: "string", oneOf: titled("Option") },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: { type: "array", items: { type: "string", enum: options } },
    titledMulti: { type: "array", items: { anyOf: titled("Choice") } },
  },
  [],
);
const person = form({ username: { type: "string" }, email: { type: "string" } }, ["username", "email"]);

const completed = (context: ServerContext) => text(`Elicitation completed: ${elicited(context, "answer")}`);

const tools: Readonly<Record<string, Ask>> = {
  test_sampling: (context, input) =>
    asking({ answer: sample(input.prompt ?? "", 100) }, () =>
      text(`LLM response: ${sampled(context, "answer")}`),
    )(context, input),
  test_elicitation: (context, input) =>
    asking({ answer: elicit(input.message ?? "", person) }, () =>
      text(`User response: ${elicited(context, "answer")}`),
    )(context, input),
  test_elicitation_sep1034_defaults: asking({ answer: elicit("Check the form", defaults) }, completed),
  test_elicitation_sep1330_enums: asking({ answer: elicit("Choose", enums) }, completed),
  test_missing_capability: asking({ answer: sample("Hello", 10) }, () => text("The client can sample.")),
  test_streaming_elicitation: asking({ user_name: askName }, () => text("Answered.")),
  test_input_required_result_elicitation: greetByName,
  test_input_required_result_sampling: asking(
    { capital_question: sample("What is the capital of France?", 100) },
    (context) => text(sampled(context, "capital_question")),
  ),
  test_input_required_result_list_roots: asking({ client_roots: inputRequired.listRoots() }, (context) =>
    text(JSON.stringify(respond(context, "client_roots"))),
  ),
  test_input_required_result_request_state: withState({ confirm }),
  test_input_required_result_tampered_state: withState({ confirm }),
  test_input_required_result_multiple_inputs: withState({
    user_name: askName,
    greeting: sample("Generate a greeting", 50),
    client_roots: inputRequired.listRoots(),
  }),
  test_input_required_result_multi_round: twoRounds,
  test_input_required_result_capabilities: byCapability,
};

const strings = fromJsonSchema<Record<string, string>>({
  type: "object",
  properties: { prompt: { type: "string" }, message: { type: "string" } },
});

/** Registers the tools that ask, and the prompt that does. */
export function addAskingTools(server: McpServer): void {
  for (const [name, ask] of Object.entries(tools))
    server.registerTool(
      name,
      { description: `The tool ${name} of the scenarios.`, inputSchema: strings },
      (input, context) => ask(context, input),
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
      form({ context: { type: "string" } }, ["context"]),
    );
    return inputRequired({ inputRequests: { user_context: question } });
  });
}
