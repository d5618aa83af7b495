import type { AgentInfo } from "capstan/client";
import type { ReactNode } from "react";
import { CodeText } from "../ui/code-text.tsx";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";

/** Read-only details of an agent. */
export function AgentDetails({ agent }: { readonly agent: AgentInfo }): ReactNode {
  const { models, tools, skills = [], handoffs, problem } = agent;
  return (
    <dl className="grid gap-4 text-sm">
      {problem !== undefined && <Detail title="Problem">{escapeBidi(problem)}</Detail>}
      <Detail title="Models">{models.map(escapeBidi).join(", then ") || "None"}</Detail>
      <Detail title="Tools">
        {tools.length === 0 && "None"}
        <ul className="grid gap-2">
          {tools.map(({ name, description, needsApproval }) => (
            <li key={name}>
              <span className="font-mono text-small text-ink">{escapeInvisible(name)}</span>
              {needsApproval && <span className="ml-2 text-xs text-accent">needs approval</span>}
              <span className="line-clamp-3 [overflow-wrap:anywhere]">
                <CodeText text={description} />
              </span>
            </li>
          ))}
        </ul>
      </Detail>
      {skills.length > 0 && (
        <Detail title="Skills">
          <ul className="grid gap-2">
            {skills.map(({ name, description, provenance }) => (
              <li key={name}>
                <span className="font-mono text-small text-ink">{escapeInvisible(name)}</span>
                {provenance === "external" && <span className="ml-2 text-xs text-warn">not trusted</span>}
                <span className="line-clamp-3 [overflow-wrap:anywhere]">{escapeInvisible(description)}</span>
              </li>
            ))}
          </ul>
        </Detail>
      )}
      <Detail title="Handoffs">{handoffs.map(escapeBidi).join(", ") || "None"}</Detail>
    </dl>
  );
}

function Detail({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <div>
      <dt className="font-medium">{title}</dt>
      <dd className="mt-0.5 text-quiet">{children}</dd>
    </div>
  );
}
