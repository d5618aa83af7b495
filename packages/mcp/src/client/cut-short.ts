import { isRecord } from "../is-record.ts";

const mostItems = 1_000;
const mostListed = 10_000;

/** For each wrong item the SDK writes a page: what is more than anybody reads is cut off before it looks. */
export function cutShort(message: object): void {
  const result = "result" in message && isRecord(message.result) ? message.result : {};
  for (const [field, items] of Object.entries(result)) {
    if (!Array.isArray(items)) continue;
    const most = field === "content" ? mostItems : mostListed;
    if (items.length <= most) continue;
    const left = items.length - most;
    items.length = most;
    if (field === "content") items.push({ type: "text", text: `(${left} more items were left out)` });
  }
}
