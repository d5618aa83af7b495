import { isRecord, type Json, type ModelRequest } from "capstan";
import { doneSince } from "./done-calls.ts";
import { dataOf } from "./known-results.ts";
import { propertiesOf } from "./properties.ts";

/** An answer in the form that was asked for: what the results have under these names, and the words where text fits. */
export function formAnswer({ output = {}, history }: ModelRequest, text: string): string {
  const known = doneSince(history).flatMap(({ result }) => (result ? [dataOf(result)] : []));
  const found: Record<string, Json> = {};
  for (const { name, type, choices } of propertiesOf({ input: output })) {
    const holder = known.findLast((data) => isRecord(data) && Object.hasOwn(data, name));
    if (isRecord(holder)) found[name] = holder[name] as Json;
    else if (type === "string" && choices.length === 0) found[name] = text;
    else if (type === "array") found[name] = [];
  }
  return JSON.stringify(found);
}
