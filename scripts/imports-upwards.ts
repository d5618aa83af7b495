/**
 * Imports inside packages/capstan/src from a folder to one that is above it, or beside it. The kernel still knows these parts
 * of features, and features these parts of the runtime. The list only shrinks.
 */
export const importsUpwards: readonly (readonly [file: string, specifier: string])[] = [
  ["features/approvals/approval-rules.ts", "../../runtime/store.ts"],
  ["features/exact-requests/find-media.ts", "../../runtime/store.ts"],
  ["features/exact-requests/rebuild-request.ts", "../../runtime/store.ts"],
  ["features/exact-requests/request-log.ts", "../../runtime/store.ts"],
  ["kernel/calls/message-builder.ts", "../../features/citations/citation-filter.ts"],
  ["kernel/calls/message-builder.ts", "../../features/exact-requests/report-request.ts"],
  ["kernel/calls/message-builder.ts", "../../features/hosted/tracker.ts"],
  ["kernel/complete-turn.ts", "../features/citations/fragments.ts"],
  ["kernel/complete-turn.ts", "../features/nested/merge-nested-run.ts"],
  ["kernel/io.ts", "../features/exact-requests/stored-request.ts"],
  ["kernel/io.ts", "../features/nested/call-agent.ts"],
  ["kernel/partial-message.ts", "../features/hosted/fold.ts"],
  ["kernel/fold-run.ts", "../features/citations/fragments.ts"],
  ["kernel/fold-run.ts", "../features/compaction/fold.ts"],
  ["kernel/state.ts", "../features/tool-search/discovered-tools.ts"],
  ["runtime/engine.ts", "../models/named-model.ts"],
  ["runtime/engine.ts", "../node/isolated-call.ts"],
  ["runtime/open-run.ts", "../models/environment.ts"],
  ["runtime/quarantine.ts", "../node/isolated-call.ts"],
  ["runtime/quarantine.ts", "../stores/memory.ts"],
  ["runtime/queue-when-busy.ts", "../stores/memory.ts"],
  ["runtime/run.ts", "../stores/memory.ts"],
];
