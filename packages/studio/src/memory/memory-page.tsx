import type { MemoryInfo } from "capstan/client/memories";
import { Plus } from "lucide-react";
import { type ReactNode, useDeferredValue, useState } from "react";
import { memoriesClient } from "../data/memories-client.ts";
import { useRequest } from "../data/use-request.ts";
import { ConfirmButton } from "../pages/confirm-button.tsx";
import { Page, Section } from "../pages/page.tsx";
import { Button } from "../ui/button.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { formatTimeAgo } from "../ui/format-age.ts";
import { SearchField } from "../ui/search-field.tsx";
import { EmptyState, ErrorMessage, Loading } from "../ui/state.tsx";
import { AuthorTag } from "./author-tag.tsx";
import { type MemoryChoice, MemoryDialog } from "./memory-form.tsx";

/** What agents remember of the user across sessions: listed, found, edited and deleted. */
export function MemoryPage(): ReactNode {
  const [query, setQuery] = useState("");
  const [choice, setChoice] = useState<MemoryChoice>();
  const searched = useDeferredValue(query.trim());
  const { value, error, retry } = useRequest(`memories ${searched}`, () =>
    memoriesClient.list(searched === "" ? {} : { query: searched }),
  );
  const newButton = (
    <Button kind="main" onClick={() => setChoice({ scope: "user" })}>
      <Plus size={15} aria-hidden="true" />
      New memory
    </Button>
  );
  const isEmpty = value?.length === 0 && searched === "";
  return (
    <Page
      title="Memory"
      about="What agents remember across your sessions. Only you and your agents see it."
      actions={
        value !== undefined &&
        !isEmpty && (
          <>
            <ConfirmButton
              size="normal"
              label="Delete all"
              name="Delete all memories"
              consequence="All agents forget everything about you. It cannot be restored."
              onConfirm={async () => {
                await memoriesClient.removeAll();
                retry();
              }}
            />
            {newButton}
          </>
        )
      }
    >
      {!isEmpty && (
        <div className="mb-6">
          <SearchField label="Search memories" value={query} onChange={setQuery} />
        </div>
      )}
      {error !== undefined && <ErrorMessage message={error} onRetry={retry} />}
      {!value && error === undefined && <Loading label="Loading memories" />}
      {isEmpty && (
        <EmptyState title="Nothing remembered yet" action={newButton}>
          Say “Remember that …” to an agent with memory tools, or write a memory yourself.
        </EmptyState>
      )}
      {value?.length === 0 && searched !== "" && (
        <p role="status" className="text-sm text-quiet">
          No memory has these words.
        </p>
      )}
      {value && <MemoryList memories={value} onChoose={setChoice} />}
      {choice && (
        <MemoryDialog
          key={`${choice.scope} ${choice.path}`}
          choice={choice}
          onClose={() => setChoice(undefined)}
          onChanged={retry}
        />
      )}
    </Page>
  );
}

type MemoryListProps = {
  readonly memories: readonly MemoryInfo[];
  readonly onChoose: (choice: MemoryChoice) => void;
};

/** The memories by scope, those of all agents first. */
function MemoryList({ memories, onChoose }: MemoryListProps): ReactNode {
  const scopes = [...new Set(["user", ...memories.map(({ scope }) => scope)])];
  return scopes.map((scope) => {
    const members = memories.filter((memory) => memory.scope === scope);
    if (members.length === 0) return null;
    return (
      <Section key={scope} title={formatScope(scope)}>
        <ul className="divide-y rounded-lg border bg-raised">
          {members.map((memory) => (
            <li key={memory.path}>
              <button
                type="button"
                onClick={() => onChoose({ scope, path: memory.path })}
                className="grid w-full gap-1 px-4 py-2.5 text-left hover:bg-sunken"
              >
                <span className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
                  <span className="min-w-0 flex-1 basis-40 font-medium [overflow-wrap:anywhere]">
                    {escapeBidi(memory.path.replace("/memories/", ""))}
                  </span>
                  <AuthorTag provenance={memory.provenance} />
                  <span className="text-xs text-quiet">{formatTimeAgo(memory.updatedAt, Date.now())}</span>
                </span>
                <span className="line-clamp-2 text-sm text-quiet [overflow-wrap:anywhere]">
                  {escapeBidi(memory.excerpt)}
                </span>
              </button>
            </li>
          ))}
        </ul>
      </Section>
    );
  });
}

function formatScope(scope: string): string {
  if (scope === "user") return "All agents";
  const [kind, ...name] = scope.split(":");
  return `${kind === "agent" ? "Agent" : "Project"} ${escapeBidi(name.join(":"))}`;
}
