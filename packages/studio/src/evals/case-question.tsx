import type { EvalCase } from "capstan/evals";
import type { ReactNode } from "react";
import { escapeBidi } from "../ui/escape-text.ts";
import { formatCaseInput } from "./format-case.ts";

/** The question of a case below its name, unless that is the name. */
export function CaseQuestion({
  evalCase: { id, input },
}: {
  readonly evalCase: Pick<EvalCase, "id" | "input">;
}): ReactNode {
  const question = formatCaseInput(input);
  if (question === id) return null;
  return (
    <p className="line-clamp-3 text-sm font-normal text-quiet [overflow-wrap:anywhere]">
      {escapeBidi(question)}
    </p>
  );
}
