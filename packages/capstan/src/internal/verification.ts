// Internals for the tests of other packages. Not part of the public surface: the subpath resolves in this workspace only, and
// the file is not published.
export { indexAgents } from "../agent.ts";
export { sleep } from "../clock.ts";
export { describeThrown } from "../errors.ts";
export { type FactBody, factVersion, type UnplacedFact } from "../event.ts";
export { identifyFact } from "../ids.ts";
export { listPendingCalls } from "../rules/pending-calls.ts";
export { createValidator } from "../schema/validator.ts";
export { apply, fold } from "../state/apply.ts";
export { parseState, serializeState } from "../state/snapshot.ts";
export { createState, type State } from "../state/state.ts";
export type { StoreNotice } from "../store.ts";
export { openConnection } from "../stores/sqlite/connection.ts";
export { createSqliteStore } from "../stores/sqlite/sqlite-store.ts";
export { isRepeatable } from "../tool.ts";
