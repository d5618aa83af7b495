import type { FoundSession, ListedSession } from "capstan/client";
import { Search } from "lucide-react";
import { type ReactNode, useDeferredValue, useState } from "react";
import { Link, useLocation } from "wouter";
import { client } from "../data/client.ts";
import { useSessionList } from "../data/session-list.ts";
import { useAnswer } from "../data/use-request.ts";
import { steadyText } from "../markdown/visible-text.ts";
import { sessionGroups } from "../shell/session-groups.ts";
import { SessionMenu } from "../shell/session-menu.tsx";
import { timeAgo } from "../ui/format-age.ts";
import { Failure, Loading, Nothing } from "../ui/state.tsx";
import { ImportButton } from "./import-button.tsx";
import { Page, Section } from "./page.tsx";

/** All sessions: by time, or by what was said in them. */
export function SessionsPage(): ReactNode {
  const [words, setWords] = useState("");
  const asked = useDeferredValue(words.trim());
  return (
    <Page title="Sessions" about="Everything you have talked about." actions={<SessionImport />}>
      <div className="relative mb-6">
        <Search
          size={15}
          aria-hidden="true"
          className="pointer-events-none absolute left-3 top-1/2 -translate-y-1/2 text-faint"
        />
        <input
          type="search"
          aria-label="Search in what was said"
          placeholder="Search in what was said"
          value={words}
          onChange={({ target }) => setWords(target.value)}
          className="h-10 w-full rounded-md border bg-raised pl-9 pr-3 text-sm [&::-webkit-search-cancel-button]:hidden"
        />
      </div>
      {asked.length < 2 ? <AllSessions /> : <FoundSessions words={asked} />}
    </Page>
  );
}

/** Takes a session from a file, and opens it. */
function SessionImport(): ReactNode {
  const [, go] = useLocation();
  const refresh = useSessionList((list) => list.refresh);
  async function take(text: string): Promise<void> {
    const { id } = await client.sessions.import(text);
    await refresh();
    go(`/sessions/${encodeURIComponent(id)}`);
  }
  return <ImportButton label="A session that was exported as JSON" onText={take} />;
}

function AllSessions(): ReactNode {
  const { sessions, error, refresh } = useSessionList();
  if (error !== undefined) return <Failure message={error} onRetry={() => void refresh()} />;
  if (!sessions) return <Loading label="Loading sessions" />;
  if (sessions.length === 0)
    return (
      <Nothing
        title="No sessions yet"
        action={
          <Link href="/" className="text-sm font-medium text-accent underline underline-offset-4">
            Start one
          </Link>
        }
      >
        What you talk about is kept here, with every step.
      </Nothing>
    );
  return sessionGroups(sessions, new Date()).map(({ title, sessions: all }) => (
    <Section key={title} title={title}>
      <ul className="divide-y rounded-lg border bg-raised">
        {all.map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </ul>
    </Section>
  ));
}

const pathOf = ({ id }: { readonly id: string }) => `/sessions/${encodeURIComponent(id)}`;

function SessionRow({ session }: { readonly session: ListedSession }): ReactNode {
  return (
    <li className="flex items-center gap-2 py-1 pl-4 pr-2">
      <Link href={pathOf(session)} className="min-w-0 flex-1 truncate py-1.5 text-sm hover:text-accent">
        {steadyText(session.title)}
      </Link>
      <span className="shrink-0 text-xs tabular-nums text-faint">
        {timeAgo(session.updatedAt, Date.now())}
      </span>
      <SessionMenu session={session} />
    </li>
  );
}

function FoundSessions({ words }: { readonly words: string }): ReactNode {
  const { value, error, again } = useAnswer(words, () => client.sessions.search(words, { most: 100 }));
  if (error !== undefined) return <Failure message={error} onRetry={again} />;
  if (!value) return <Loading label="Searching" />;
  if (value.length === 0)
    return <Nothing title="Nothing found">All the words must have been said at one place.</Nothing>;
  return (
    <ul className="divide-y rounded-lg border bg-raised">
      {value.map((found) => (
        <FoundRow key={found.id} found={found} words={words} />
      ))}
    </ul>
  );
}

const mostPlaces = 3;

function FoundRow({ found, words }: { readonly found: FoundSession; readonly words: string }): ReactNode {
  return (
    <li className="flex items-start gap-2 py-2 pl-4 pr-2">
      <Link href={pathOf(found)} className="group min-w-0 flex-1">
        <span className="block truncate text-sm font-medium group-hover:text-accent">
          <MarkedWords text={found.title} words={words} />
        </span>
        {found.places.slice(0, mostPlaces).map(({ seq, excerpt }) => (
          <span key={seq} className="mt-1 line-clamp-2 text-sm text-quiet [overflow-wrap:anywhere]">
            <MarkedWords text={excerpt} words={words} />
          </span>
        ))}
      </Link>
      <SessionMenu session={found} />
    </li>
  );
}

/** A text in which the words that were looked for are marked. */
export function MarkedWords({ text, words }: { readonly text: string; readonly words: string }): ReactNode {
  const wanted = words.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  if (wanted.length === 0) return steadyText(text);
  const pieces = steadyText(text).split(new RegExp(`(${wanted.join("|")})`, "giu"));
  return pieces.map((piece, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one text have no other name
      <mark key={index} className="rounded-xs bg-accent-soft px-px font-medium text-ink">
        {piece}
      </mark>
    ) : (
      piece
    ),
  );
}
