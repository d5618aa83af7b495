import type { FactRows } from "../../kernel/fact-row.ts";
import { applyCompaction } from "./fold.ts";

export const compactionFacts: FactRows<"compaction_start" | "compacted"> = {
  compaction_start: {
    id: ({ type, number }, { prefix }) => `${prefix}/${type}/${number}`,
    fold(_, { compactions }, { number, until }) {
      compactions.open ??= { number, until, candidate: 0 };
    },
  },
  compacted: {
    id: ({ type, number }, { prefix }) => `${prefix}/${type}/${number}`,
    fold: applyCompaction,
  },
};
