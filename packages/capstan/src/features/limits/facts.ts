import type { FactRows } from "../../kernel/fact-row.ts";
import { identifyByType } from "../../kernel/ids.ts";

export const limitFacts: FactRows<"limit_reached"> = {
  limit_reached: {
    id: identifyByType,
    fold(_, run, { code, message }) {
      run.limit = { code, message };
    },
  },
};
