import type { About } from "capstan/client";
import { type ReactNode, useState } from "react";
import { client } from "../data/client.ts";
import { useRequest } from "../data/use-request.ts";
import { KeyList } from "../shell/help-sheet.tsx";
import { runWithToast } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";
import { escapeBidi, escapeInvisible } from "../ui/escape-text.ts";
import { getTrustedHosts, untrustHost } from "../ui/external-link.tsx";
import { ErrorMessage } from "../ui/state.tsx";
import { chooseTheme, getThemeChoice, type ThemeChoice } from "../ui/theme.ts";
import { Page, Section } from "./page.tsx";

/** Appearance, account and data storage. */
export function SettingsPage(): ReactNode {
  const { value: about, error, retry } = useRequest("about", () => client.about());
  return (
    <Page title="Settings" about="For this browser only.">
      {error !== undefined && <ErrorMessage message={error} onRetry={retry} />}
      <Section title="Theme">
        <ThemePicker />
      </Section>
      <Section title="Motion">
        <p className="text-sm text-quiet">{describeMotion()}</p>
      </Section>
      <Section title="Keyboard shortcuts">
        <div className="rounded-lg border bg-raised px-4 py-3.5">
          <KeyList />
        </div>
      </Section>
      <Section title="Account">
        <Account about={about} />
      </Section>
      <TrustedHosts />
      <Section title="Data storage">
        <DataLocations />
      </Section>
      <p className="mt-8 min-h-5 text-xs text-faint">
        {about && `${about.name} ${about.version} · ${escapeBidi(about.model)}`}
      </p>
    </Page>
  );
}

/** Hosts whose links open without confirmation. */
function TrustedHosts(): ReactNode {
  const [hosts, setHosts] = useState(getTrustedHosts);
  function removeHost(host: string): void {
    untrustHost(host);
    setHosts(getTrustedHosts());
  }
  if (hosts.length === 0) return null;
  return (
    <Section title="Links" about="Links to these hosts open without confirmation.">
      <ul className="divide-y rounded-lg border bg-raised text-sm">
        {hosts.map((host) => (
          <li key={host} className="flex items-center gap-3 py-1.5 pl-4 pr-2">
            <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">{escapeInvisible(host)}</span>
            <Button size="small" aria-label={`Ask again for ${host}`} onClick={() => removeHost(host)}>
              Ask again
            </Button>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const themes: readonly { readonly value: ThemeChoice; readonly label: string }[] = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

function ThemePicker(): ReactNode {
  const [choice, setChoice] = useState(getThemeChoice);
  return (
    <fieldset className="inline-flex gap-1 rounded-lg border bg-sunken p-1">
      <legend className="sr-only">Theme</legend>
      {themes.map(({ value, label }) => (
        <label
          key={value}
          className="cursor-pointer rounded-md px-3 py-1 text-sm text-quiet has-checked:bg-raised has-checked:font-medium has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name="theme"
            value={value}
            checked={choice === value}
            onChange={() => {
              chooseTheme(value);
              setChoice(value);
            }}
            className="sr-only"
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}

function describeMotion(): string {
  return matchMedia("(prefers-reduced-motion: reduce)").matches
    ? "Reduced motion is on, following your system settings."
    : "Animations are minimal and follow your system's reduced-motion setting.";
}

function Account({ about }: { readonly about: About | undefined }): ReactNode {
  async function signOut(): Promise<void> {
    await client.signOut();
    location.assign("/");
  }
  if (!about) return <p className="min-h-9 text-sm text-quiet">…</p>;
  const name = about.user === "" ? "the local user" : escapeBidi(about.user);
  return (
    <div className="flex flex-wrap items-center justify-between gap-3">
      <p className="text-sm text-quiet">
        Signed in as <span className="text-ink">{name}</span>
        {about.isAdmin ? ", who may change agents and MCP servers." : "."}
      </p>
      <Button size="small" onClick={() => runWithToast(signOut)}>
        Sign out
      </Button>
    </div>
  );
}

const dataLocations: readonly { readonly data: string; readonly location: string }[] = [
  { data: "Sessions, runs, large results", location: "In the server's database" },
  { data: "Stored agents", location: "In the server's database, with their versions" },
  { data: "Model keys", location: "In environment variables of the server, never in the database" },
  { data: "Sign-in", location: "In an HTTP-only cookie" },
  { data: "Theme and trusted hosts", location: "In this browser" },
];

function DataLocations(): ReactNode {
  return (
    <dl className="divide-y rounded-lg border bg-raised text-sm">
      {dataLocations.map(({ data, location }) => (
        <div key={data} className="flex flex-wrap gap-x-6 px-4 py-2">
          <dt className="basis-56 font-medium">{data}</dt>
          <dd className="min-w-0 flex-1 basis-56 text-quiet">{location}</dd>
        </div>
      ))}
    </dl>
  );
}
