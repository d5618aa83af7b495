import type { Event } from "capstan";
import { restartsMessage } from "capstan/client";

/** Creates a function that tells of each event of a run whether it discards a message of which a part was received. */
export function trackDiscards(): (event: Event) => boolean {
  let isPartial = false;
  return (event) => {
    const isRestart = restartsMessage(event);
    const isDiscarded = isPartial && isRestart;
    if (isMessageDelta(event)) isPartial = true;
    else if (isRestart || event.type === "message") isPartial = false;
    return isDiscarded;
  };
}

function isMessageDelta({ type }: Event): boolean {
  return type === "content_delta" || type === "reasoning_delta" || type === "tool_call_delta";
}
