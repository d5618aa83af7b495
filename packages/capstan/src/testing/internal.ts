// Internals for the tests of other packages. Not part of the public surface: the subpath resolves in this workspace only, and
// the file is not published.

export { sleep } from "../base/clock.ts";
export { describeThrown } from "../base/errors.ts";
export { listPendingCalls } from "../features/calls/pending-calls.ts";
export { indexAgents } from "../kernel/agent.ts";
export { type FactBody, factVersion, type UnplacedFact } from "../kernel/event.ts";
export { identifyFact } from "../kernel/ids.ts";
export { createState, type State } from "../kernel/state.ts";
export { isRepeatable } from "../kernel/tool.ts";
export { decide } from "../runtime/decide.ts";
export { apply, fold } from "../runtime/facts.ts";
export { buildResult } from "../runtime/result.ts";
export { parseState, serializeState } from "../runtime/snapshot.ts";
export type { StoreNotice } from "../runtime/store.ts";
export { createValidator } from "../schema/validator.ts";
export { openConnection } from "../stores/sqlite/connection.ts";
export { createSqliteStore } from "../stores/sqlite/sqlite-store.ts";
