export { formatCount, formatCounts } from "../base/format-count.ts";
export { foldText, splitWords } from "../base/words.ts";
export {
  addApprovalRule,
  listApprovalRules,
  removeApprovalRules,
  revokeApprovalRule,
} from "../features/approvals/approval-rules.ts";
export { expiredReason } from "../features/calls/rules.ts";
export { parseBody as parseRequestBody } from "../features/exact-requests/parse-body.ts";
export {
  type ApprovalRule,
  type ApprovalScope,
  describeRule,
  describeScope,
} from "../kernel/approval-scope.ts";
export { updateRecord } from "../kernel/records.ts";
export { getScope } from "../kernel/session-id.ts";
export { isInRun, loadRunFacts, loadRunStart, readRunFacts } from "../runtime/load-facts.ts";
export {
  countQueuedRuns,
  deleteQueue,
  findQueuedRun,
  findTaker,
  type ListedRun,
  listQueuedRuns,
  type QueuedRun,
  toListedRun,
} from "../runtime/queue.ts";
export type { ListOptions, SearchOptions } from "../runtime/store.ts";
export { type DiffLinesOptions, diffLines, type LineChange } from "./diff-lines.ts";
export {
  type CallDifference,
  type Difference,
  difference,
  type Pair,
  type TurnDifference,
} from "./difference.ts";
export type { ExportFormat } from "./export-session.ts";
export type { ForkOptions } from "./fork.ts";
export { formatDifference } from "./format-difference.ts";
export type { ImportOptions } from "./import-session.ts";
export { loadRequests } from "./load-requests.ts";
export { type PrunedSession, type PruneOptions, prune } from "./prune.ts";
export type { ReplayOptions } from "./replay.ts";
export { type Rerun, type RerunOptions, rerun } from "./rerun.ts";
export { type Session, session } from "./session.ts";
export { type FoundSession, type ListedSession, type Sessions, sessions } from "./sessions.ts";
export {
  type Cursor,
  type SlowReader,
  type Subscribed,
  type SubscribeOptions,
  type Subscription,
  subscribe,
} from "./subscribe.ts";
export type { RunSummary, SessionSummary } from "./summary.ts";
