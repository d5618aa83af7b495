import type { FoundSession, ListedSession } from "capstan/client";
import { type ReactNode, useDeferredValue, useState } from "react";
import { Link, useLocation } from "wouter";
import { client } from "../data/client.ts";
import { mergeByTitle } from "../data/match-words.ts";
import { useSessionList } from "../data/session-list.ts";
import { useRequest } from "../data/use-request.ts";
import { groupSessions } from "../shell/group-sessions.ts";
import { SessionMenu } from "../shell/session-menu.tsx";
import { Button } from "../ui/button.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { formatTimeAgo } from "../ui/format-age.ts";
import { SearchField } from "../ui/search-field.tsx";
import { EmptyState, ErrorMessage, Loading } from "../ui/state.tsx";
import { ImportButton } from "./import-button.tsx";
import { Page, Section } from "./page.tsx";

/** All sessions by date, or search results. */
export function SessionsPage(): ReactNode {
  const [query, setQuery] = useState("");
  const deferredQuery = useDeferredValue(query.trim());
  return (
    <Page title="Sessions" about="All your sessions." actions={<SessionImport />}>
      <div className="mb-6">
        <SearchField label="Search messages" value={query} onChange={setQuery} />
      </div>
      {deferredQuery.length < 2 ? <AllSessions /> : <FoundSessions query={deferredQuery} />}
    </Page>
  );
}

/** Imports a session from a file and opens it. */
function SessionImport(): ReactNode {
  const [, navigate] = useLocation();
  const refresh = useSessionList((list) => list.refresh);
  async function importSession(text: string): Promise<void> {
    const { id } = await client.sessions.import(text);
    await refresh();
    navigate(`/sessions/${encodeURIComponent(id)}`);
  }
  return <ImportButton label="Session exported as JSON" onText={importSession} />;
}

function AllSessions(): ReactNode {
  const { sessions, error, next, refresh, loadMore } = useSessionList();
  if (error !== undefined) return <ErrorMessage message={error} onRetry={() => void refresh()} />;
  if (!sessions) return <Loading label="Loading sessions" />;
  if (sessions.length === 0)
    return (
      <EmptyState
        title="No sessions yet"
        action={
          <Link href="/" className="text-sm font-medium text-accent underline underline-offset-4">
            Start one
          </Link>
        }
      >
        Your sessions are stored here with every step.
      </EmptyState>
    );
  return (
    <>
      {groupSessions(sessions, new Date()).map(({ title, sessions: members }) => (
        <Section key={title} title={title}>
          <ul className="divide-y rounded-lg border bg-raised">
            {members.map((session) => (
              <SessionRow key={session.id} session={session} />
            ))}
          </ul>
        </Section>
      ))}
      {next !== undefined && <Button onClick={() => void loadMore()}>Show more</Button>}
    </>
  );
}

const getSessionPath = ({ id }: { readonly id: string }) => `/sessions/${encodeURIComponent(id)}`;

function SessionRow({ session }: { readonly session: ListedSession }): ReactNode {
  return (
    <li className="flex items-center gap-2 py-1 pl-4 pr-2">
      <Link
        href={getSessionPath(session)}
        className="min-w-0 flex-1 truncate py-1.5 text-sm hover:text-accent"
      >
        {escapeBidi(session.title)}
      </Link>
      <span className="shrink-0 text-xs tabular-nums text-faint">
        {formatTimeAgo(session.updatedAt, Date.now())}
      </span>
      <SessionMenu session={session} />
    </li>
  );
}

function FoundSessions({ query }: { readonly query: string }): ReactNode {
  const { value, error, retry } = useRequest(query, () => client.sessions.search(query, { most: 100 }));
  const sessions = useSessionList((list) => list.sessions) ?? [];
  if (error !== undefined) return <ErrorMessage message={error} onRetry={retry} />;
  if (!value) return <Loading label="Searching" />;
  const merged = mergeByTitle(sessions, value, query);
  if (merged.length === 0)
    return (
      <EmptyState title="No results">All words must appear in the title or in the same message.</EmptyState>
    );
  return (
    <ul className="divide-y rounded-lg border bg-raised">
      {merged.map((found) => (
        <FoundRow key={found.id} found={found} query={query} />
      ))}
    </ul>
  );
}

const maxPlaces = 3;

function FoundRow({ found, query }: { readonly found: FoundSession; readonly query: string }): ReactNode {
  return (
    <li className="flex items-start gap-2 py-2 pl-4 pr-2">
      <Link href={getSessionPath(found)} className="group min-w-0 flex-1">
        <span className="block truncate text-sm font-medium group-hover:text-accent">
          <HighlightedText text={found.title} query={query} />
        </span>
        {found.places.slice(0, maxPlaces).map(({ seq, excerpt }) => (
          <span key={seq} className="mt-1 line-clamp-2 text-sm text-quiet [overflow-wrap:anywhere]">
            <HighlightedText text={excerpt} query={query} />
          </span>
        ))}
      </Link>
      <SessionMenu session={found} />
    </li>
  );
}

/** A text in which the beginnings of words that match a search are highlighted. */
export function HighlightedText({
  text,
  query,
}: {
  readonly text: string;
  readonly query: string;
}): ReactNode {
  const terms = query.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  if (terms.length === 0) return escapeBidi(text);
  const pieces = escapeBidi(text).split(new RegExp(`(?<![\\p{L}\\p{N}])(${terms.join("|")})`, "giu"));
  return pieces.map((piece, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces are identified by position
      <mark key={index} className="rounded-xs bg-accent-soft px-px font-medium text-ink">
        {piece}
      </mark>
    ) : (
      piece
    ),
  );
}
