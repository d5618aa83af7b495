import { assert, asyncProperty } from "fast-check";
import { it } from "vitest";
import { checkLabels } from "../../testing/provenance/check-labels.ts";
import { arbitraryConversation } from "../../testing/provenance/conversation-plan.ts";
import { runConversation } from "../../testing/provenance/run-conversation.ts";

it("labels and provenance follow every text through handoffs, sub-agents, compaction, forks, imports and stored results (A100 to A105)", async () => {
  await assert(
    asyncProperty(arbitraryConversation, (plan) => runConversation(plan, checkLabels)),
    { numRuns: 150 },
  );
});
