import { formatCount } from "capstan/sessions";
import { type ReactNode, useEffect, useState } from "react";
import { useAbout } from "../data/about.ts";
import { type AdminUser, admin, type DrainState } from "../data/admin.ts";
import { useRequest } from "../data/use-request.ts";
import { runWithToast } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { formatTimeAgo } from "../ui/format-age.ts";
import { EmptyState, ErrorMessage, Loading } from "../ui/state.tsx";
import { KeySection } from "./admin-keys.tsx";
import { QuotaButton } from "./admin-quotas.tsx";
import { ConfirmButton } from "./confirm-button.tsx";
import { Page, Section, Tag } from "./page.tsx";

/** Users, keys, quotas, sessions, runs and draining, for admins. */
export function AdminPage(): ReactNode {
  const { about, refresh } = useAbout();
  useEffect(() => {
    if (!about) void refresh();
  }, [about, refresh]);
  if (about && !about.isAdmin)
    return <EmptyState title="Only for admins">Sign in with the key of an admin.</EmptyState>;
  return (
    <Page title="Administration" about="Users and runs of this server.">
      {about && (
        <>
          <DrainSection />
          <UserSection />
          <KeySection />
          <RunSection />
          <SessionSection />
        </>
      )}
    </Page>
  );
}

function DrainSection(): ReactNode {
  const { value, error, retry } = useRequest("drain", admin.getDrain);
  const [changed, setChanged] = useState<DrainState>();
  const { isDraining, runs } = changed ?? value ?? { isDraining: false, runs: [] };
  const set = (next: boolean) => runWithToast(async () => setChanged(await admin.setDrain(next)));
  const active = formatCount(runs.length, "active run");
  return (
    <Section
      title="New work"
      about="Drain this process before maintenance: active runs continue to their end."
    >
      {error !== undefined && <ErrorMessage message={error} onRetry={retry} />}
      <div className="flex flex-wrap items-center gap-3 rounded-lg border bg-raised px-4 py-3 text-sm">
        <Tag tone={isDraining ? "warn" : "accent"}>{isDraining ? "draining" : "accepting"}</Tag>
        <span className="flex-1">{active}</span>
        {isDraining && (
          <Button size="small" kind="quiet" onClick={() => set(true)}>
            Refresh
          </Button>
        )}
        <Button size="small" onClick={() => set(!isDraining)}>
          {isDraining ? "Accept new work" : "Drain"}
        </Button>
      </div>
    </Section>
  );
}

const formatNumber = (value: number) => value.toLocaleString("en", { maximumFractionDigits: 2 });
const formatBytes = (bytes: number) =>
  bytes < 1e6 ? `${formatNumber(bytes / 1e3)} kB` : `${formatNumber(bytes / 1e6)} MB`;
const formatSpending = (cost: number) => `$${formatNumber(cost)}`;
const formatUser = (user: string) => user || "local user";

function UserSection(): ReactNode {
  const { value, error, retry } = useRequest("users", admin.listUsers);
  if (error !== undefined) return <ErrorMessage message={error} onRetry={retry} />;
  if (!value) return <Loading label="Loading users" />;
  return (
    <Section title="Users and quotas" about="What each user has used today (UTC), of what the quotas allow.">
      <ul className="divide-y rounded-lg border bg-raised">
        <li className="flex items-center gap-3 px-4 py-2 text-sm">
          <span className="flex-1 text-quiet">All users</span>
          <QuotaButton user={undefined} quotas={value.defaultQuotas} onSaved={retry} />
        </li>
        {value.users.map((user) => (
          <UserRow key={user.user} user={user} onSaved={retry} />
        ))}
      </ul>
    </Section>
  );
}

function UserRow({ user, onSaved }: { readonly user: AdminUser; readonly onSaved: () => void }): ReactNode {
  const { quotas, windows, storage } = user;
  const getDayLimit = (name: "runs" | "tokens" | "cost") => {
    const limits = quotas[name];
    return typeof limits === "object" ? limits.day : undefined;
  };
  const maxBytes = typeof quotas.storage === "number" ? quotas.storage : undefined;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5 text-sm">
      <span className="flex min-w-0 flex-1 items-center gap-2">
        <span className="truncate font-medium">{formatUser(user.user)}</span>
        {user.isAdmin && <Tag tone="accent">admin</Tag>}
      </span>
      <span className="order-last flex basis-full flex-wrap gap-x-4 sm:order-none sm:basis-auto">
        <Amount label="runs" used={windows.day.runs} limit={getDayLimit("runs")} />
        <Amount label="tokens" used={windows.day.tokens} limit={getDayLimit("tokens")} />
        <Amount format={formatSpending} used={windows.day.cost} limit={getDayLimit("cost")} />
        <Amount format={formatBytes} used={storage.bytes} limit={maxBytes} />
      </span>
      <QuotaButton user={user.user} quotas={user.ownQuotas} onSaved={onSaved} />
    </li>
  );
}

type AmountProps = {
  readonly used: number;
  readonly limit: number | undefined;
  readonly label?: string;
  readonly format?: (value: number) => string;
};

function Amount({ used, limit, label = "", format = formatNumber }: AmountProps): ReactNode {
  const isUsedUp = limit !== undefined && used >= limit;
  return (
    <span className={`text-xs tabular-nums ${isUsedUp ? "font-medium text-bad" : "text-quiet"}`}>
      {format(used)}
      {limit !== undefined && ` of ${format(limit)}`} {label}
    </span>
  );
}

function RunSection(): ReactNode {
  const { value, error, retry } = useRequest("runs", admin.listRuns);
  const send = (id: string, type: "cancel" | "retry") => admin.sendToRun(id, type).then(retry);
  return (
    <Section title="Stuck and waiting runs" about="Runs that no process executes.">
      {error !== undefined && <ErrorMessage message={error} onRetry={retry} />}
      {value?.length === 0 && <p className="text-sm text-quiet">None.</p>}
      {value !== undefined && value.length > 0 && (
        <ul className="divide-y rounded-lg border bg-raised">
          {value.map(({ runId, user, agent, state, reason, updatedAt }) => (
            <li key={runId} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2 text-sm">
              <span className="min-w-0 flex-1 basis-56">
                <span className="block truncate">
                  {escapeBidi(agent)} · {formatUser(user)}
                </span>
                {reason !== undefined && <span className="text-xs text-bad">{escapeBidi(reason)}</span>}
              </span>
              <Tag tone={state === "stuck" ? "bad" : "quiet"}>{state}</Tag>
              <span className="text-xs text-faint">{formatTimeAgo(updatedAt, Date.now())}</span>
              <Button size="small" onClick={() => runWithToast(() => send(runId, "retry"))}>
                Retry
              </Button>
              <ConfirmButton
                label="Cancel run"
                name={`Cancel run of ${formatUser(user)}`}
                consequence="The run ends. What it has done so far stays in its session."
                onConfirm={() => send(runId, "cancel")}
              />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function SessionSection(): ReactNode {
  const { value, error, retry } = useRequest("sessions", admin.listSessions);
  return (
    <Section title="Largest sessions" about="Titles of other users are not shown.">
      {error !== undefined && <ErrorMessage message={error} onRetry={retry} />}
      {value?.length === 0 && <p className="text-sm text-quiet">None.</p>}
      {value !== undefined && value.length > 0 && (
        <ul className="divide-y rounded-lg border bg-raised">
          {value.map(({ id, user, title, bytes, updatedAt }) => (
            <li key={id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2 text-sm">
              <span className="min-w-0 flex-1 basis-56 truncate">{escapeBidi(title ?? id)}</span>
              <span className="text-xs text-quiet">{formatUser(user)}</span>
              <span className="text-xs tabular-nums">{formatBytes(bytes)}</span>
              <span className="text-xs text-faint">{formatTimeAgo(updatedAt, Date.now())}</span>
              <ConfirmButton
                label="Delete"
                name={`Delete the session ${title ?? id}`}
                consequence="The session of this user is deleted with everything in it. This cannot be undone."
                onConfirm={() => admin.deleteSession(id).then(retry)}
              />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
