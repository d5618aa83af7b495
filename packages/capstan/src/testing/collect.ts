import type { Json } from "../base/json.ts";
import { type Event, type Fact, isFact } from "../kernel/event.ts";
import type { ToolCall } from "../kernel/tool.ts";
import type { Result } from "../runtime/result.ts";
import type { Run } from "../runtime/run-handle.ts";

/** Returns all events of a run until it ends or suspends, and its result. */
export async function collect<Output extends Json | undefined, Call extends ToolCall>(
  run: Run<Output, Call>,
): Promise<{ events: Event<Call>[]; facts: Fact<Call>[]; result: Result<Output, Call> }> {
  const events: Event<Call>[] = [];
  for await (const event of run) events.push(event);
  return { events, facts: events.filter((event) => isFact(event)), result: await run };
}
