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
import type { Json, PendingCall, Run } from "capstan";
import { isRecord } from "../is-record.ts";

type Form = ElicitRequestFormParams["requestedSchema"];
type Responses = ServerContext["mcpReq"]["inputResponses"];

/** What a call is bound to while a person decides: another call with the same id is not what was asked about. */
export type AskedCall = { readonly callId: string; readonly digest?: string };

/** How the client can ask its user. */
export type Asking = { readonly form: boolean; readonly url: boolean };

const approval: Form = {
  type: "object",
  properties: {
    approve: { type: "boolean", title: "Allow it" },
    reason: { type: "string", title: "Reason" },
  },
  required: ["approve"],
};

/** By what the client declared: with the request (2026-07-28) or when it connected. */
export function askingOf(server: Server, { mcpReq }: ServerContext): Asking {
  const envelope: Record<string, unknown> | undefined = mcpReq.envelope;
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  const elicitation = (declared ?? server.getClientCapabilities())?.elicitation;
  if (!elicitation) return { form: false, url: false };
  const url = "url" in elicitation && elicitation.url !== undefined;
  return { form: "form" in elicitation || !url, url };
}

/** The question to a person about a call, or undefined when this client cannot put it. */
export function questionTo(asking: Asking, call: PendingCall): InputRequest | undefined {
  const { name, needs, question, reason, shown } = call;
  if (needs !== "approval") return undefined;
  if (question?.url !== undefined)
    return asking.url ? inputRequired.elicitUrl({ message: reason, url: question.url }) : undefined;
  if (!asking.form) return undefined;
  const message = question ? reason : `Allow the agent to call "${name}"? ${reason}\n${shown}`;
  return inputRequired.elicit({ message, requestedSchema: formOf(question?.schema) });
}

/** Does to the run what the person said about one call; false when the person left it open. */
export function decide(
  run: Run,
  { callId, question }: PendingCall,
  response: { of: Responses; key: string },
): boolean {
  const said = inputResponse(response.of, response.key);
  if (said.kind !== "elicit" || said.action === "cancel") return false;
  const content = said.content ?? {};
  if (said.action === "decline") run.deny(callId, "The user declined.");
  else if (question?.url !== undefined || (!question?.schema && content.approve === true))
    run.approve(callId);
  else if (!question?.schema) run.deny(callId, reasonIn(content));
  else {
    const value = isFlat(question.schema) ? content : parsed(content.json);
    if (value === undefined) return false;
    run.approve(callId, value as Json); // checked there against the schema
  }
  return true;
}

function reasonIn({ reason }: Record<string, unknown>): string {
  return typeof reason === "string" && reason ? reason : "The user said no.";
}

function parsed(json: unknown): unknown {
  if (typeof json !== "string") return undefined;
  try {
    return JSON.parse(json);
  } catch {
    return undefined; // no answer
  }
}

/** A yes or no without a schema; the schema itself where a form can show it; otherwise a field for text. */
function formOf(schema: unknown): Form {
  if (isFlat(schema)) return schema;
  if (schema === undefined) return approval;
  const description = `JSON by this schema: ${JSON.stringify(schema)}`;
  return { type: "object", properties: { json: { type: "string", description } }, required: ["json"] };
}

const formWords = new Set(
  "type title description default enum enumNames minLength maxLength minimum maximum format".split(" "),
);
const formats = new Set(["email", "uri", "date", "date-time"]);
const primitives = new Set(["string", "number", "integer", "boolean"]);

function isFlat(schema: unknown): schema is Form {
  if (!isRecord(schema) || schema.type !== "object" || !isRecord(schema.properties)) return false;
  return Object.values(schema.properties).every(
    (field) =>
      isRecord(field) &&
      primitives.has(String(field.type)) &&
      Object.keys(field).every((word) => formWords.has(word)) &&
      (field.format === undefined || formats.has(String(field.format))),
  );
}
