import { isRecord } from "../base/json.ts";
import type { Delta, DeltaBody } from "../kernel/event.ts";
import type { PositionedDelta } from "../runtime/store.ts";

type Check = (value: unknown) => boolean;
type Fields = { readonly [name: string]: Check };

const isText: Check = (value) => typeof value === "string";
const isOptionalText: Check = (value) => value === undefined || isText(value);
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isOptionalCount: Check = (value) => value === undefined || isCount(value);
const isNumber: Check = Number.isFinite;

const originFields: Fields = {
  ...{ runId: isText, agent: isText, turn: isCount },
  ...{ parentRunId: isOptionalText, parentCallId: isOptionalText },
  seq: (value) => value === undefined, // only facts have one
};

/** Typed by `DeltaBody`: a delta that is added there and missing here does not compile. */
const bodyFields: { readonly [Type in DeltaBody["type"]]: Fields } = {
  content_delta: { delta: isText },
  reasoning_delta: { delta: isText },
  turn_summary_delta: { delta: isText },
  tool_call_delta: { id: isText, name: isText, delta: isText },
  tool_progress: { id: isText, data: (value) => value !== undefined },
  citation: { n: isCount, id: isText, source: isRecord },
  message_restart: { reason: isText, model: isOptionalText, discarded: isOptionalCount },
  retry: { attempt: isCount, code: isText, message: isText, waitMs: isNumber, at: isNumber },
};

/** Whether a value from outside of this process is a delta of the session. Anyone who can publish on a bus can send one. */
export function isPositionedDelta(value: unknown, sessionId: string): value is PositionedDelta {
  if (!isRecord(value) || !isCount(value.after) || !isRecord(value.delta)) return false;
  const { delta } = value;
  if (delta.sessionId !== sessionId || !isDeltaType(delta.type)) return false;
  return hasFields(delta, originFields) && hasFields(delta, bodyFields[delta.type]);
}

const isDeltaType = (type: unknown): type is Delta["type"] =>
  typeof type === "string" && Object.hasOwn(bodyFields, type);

const hasFields = (value: Record<string, unknown>, fields: Fields): boolean =>
  Object.entries(fields).every(([name, check]) => check(value[name]));
