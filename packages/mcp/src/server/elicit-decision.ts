import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type InputRequest,
  inputRequired,
  inputResponse,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { isRecord, type Json, type PendingCall, type Run } from "capstan";

type Form = ElicitRequestFormParams["requestedSchema"];
type Responses = ServerContext["mcpReq"]["inputResponses"];

/** Identifies the call a user decides on: another call with the same id does not match. */
export type CallReference = { readonly callId: string; readonly digest?: string };

/** The kinds of elicitation that a client supports. */
export type ElicitationSupport = { readonly form: boolean; readonly url: boolean };

const approvalForm: Form = {
  type: "object",
  properties: {
    approve: { type: "boolean", title: "Allow it" },
    reason: { type: "string", title: "Reason" },
  },
  required: ["approve"],
};

/** Reads the capabilities declared with the request (2026-07-28) or when the client connected. */
export function detectElicitation(server: Server, { mcpReq }: ServerContext): ElicitationSupport {
  const envelope: Record<string, unknown> | undefined = mcpReq.envelope;
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  const elicitation = (declared ?? server.getClientCapabilities())?.elicitation;
  if (!elicitation) return { form: false, url: false };
  const url = "url" in elicitation && elicitation.url !== undefined;
  return { form: "form" in elicitation || !url, url };
}

/** Creates the elicitation for a pending call, or returns undefined if the client does not support it. */
export function createElicitation(support: ElicitationSupport, call: PendingCall): InputRequest | undefined {
  const { name, needs, question, reason, shown } = call;
  if (needs !== "approval") return undefined;
  if (question?.url !== undefined)
    return support.url ? inputRequired.elicitUrl({ message: reason, url: question.url }) : undefined;
  if (!support.form) return undefined;
  const message = question ? reason : `Allow the agent to call "${name}"? ${reason}\n${shown}`;
  return inputRequired.elicit({ message, requestedSchema: toForm(question?.schema) });
}

/** Applies the user's response to one call. Returns false if the user did not decide. */
export function applyDecision(
  run: Run,
  { callId, question }: PendingCall,
  response: { of: Responses; key: string },
): boolean {
  const reply = inputResponse(response.of, response.key);
  if (reply.kind !== "elicit" || reply.action === "cancel") return false;
  const content = reply.content ?? {};
  if (reply.action === "decline") run.deny(callId, "The user declined.");
  else if (question?.url !== undefined || (!question?.schema && content.approve === true))
    run.approve(callId);
  else if (!question?.schema) run.deny(callId, getDenyReason(content));
  else {
    const value = isFlatForm(question.schema) ? content : parseJsonAnswer(content.json);
    if (value === undefined) return false;
    run.approve(callId, value as Json); // validated against the schema there
  }
  return true;
}

function getDenyReason({ reason }: Record<string, unknown>): string {
  return typeof reason === "string" && reason ? reason : "The user denied the call.";
}

function parseJsonAnswer(json: unknown): unknown {
  if (typeof json !== "string") return undefined;
  try {
    return JSON.parse(json);
  } catch {
    return undefined; // not an answer
  }
}

/** Without a schema: approve or deny. With a flat schema: that form. Otherwise: a text field for JSON. */
function toForm(schema: unknown): Form {
  if (isFlatForm(schema)) return schema;
  if (schema === undefined) return approvalForm;
  const description = `JSON that matches this schema: ${JSON.stringify(schema)}`;
  return { type: "object", properties: { json: { type: "string", description } }, required: ["json"] };
}

const formKeywords = new Set(
  "type title description default enum enumNames minLength maxLength minimum maximum format".split(" "),
);
const formats = new Set(["email", "uri", "date", "date-time"]);
const primitives = new Set(["string", "number", "integer", "boolean"]);

function isFlatForm(schema: unknown): schema is Form {
  if (!isRecord(schema) || schema.type !== "object" || !isRecord(schema.properties)) return false;
  return Object.values(schema.properties).every(
    (field) =>
      isRecord(field) &&
      primitives.has(String(field.type)) &&
      Object.keys(field).every((word) => formKeywords.has(word)) &&
      (field.format === undefined || formats.has(String(field.format))),
  );
}
