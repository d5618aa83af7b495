export {
  addApprovalRule,
  listApprovalRules,
  removeApprovalRules,
  revokeApprovalRule,
} from "../approvals/approval-rules.ts";
export {
  type ApprovalRule,
  type ApprovalScope,
  describeRule,
  describeScope,
} from "../approvals/approval-scope.ts";
export { parseBody as parseRequestBody } from "../requests/parse-body.ts";
export { expiredReason } from "../rules/tool-calls.ts";
export { getScope, type ListOptions, type SearchOptions, updateRecord } from "../store.ts";
export { foldText, splitWords } from "../words.ts";
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
export { isInRun, loadRunFacts, loadRunStart, readRunFacts } from "./load-facts.ts";
export { loadRequests } from "./load-requests.ts";
export { type PrunedSession, type PruneOptions, prune } from "./prune.ts";
export {
  countQueuedRuns,
  deleteQueue,
  findQueuedRun,
  findTaker,
  type ListedRun,
  listQueuedRuns,
  type QueuedRun,
  toListedRun,
} from "./queue.ts";
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
