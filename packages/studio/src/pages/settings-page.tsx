import type { About } from "capstan/client";
import { type ReactNode, useState } from "react";
import { client } from "../data/client.ts";
import { useAnswer } from "../data/use-request.ts";
import { steadyText, visibleText } from "../markdown/visible-text.ts";
import { KeyList } from "../shell/help-sheet.tsx";
import { attempt } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";
import { forgetHost, knownHosts } from "../ui/outside-link.tsx";
import { Failure } from "../ui/state.tsx";
import { chooseTheme, type ThemeChoice, themeChoice } from "../ui/theme.ts";
import { Page, Section } from "./page.tsx";

/** How the studio looks and works for this person, and what is kept where. */
export function SettingsPage(): ReactNode {
  const { value: about, error, again } = useAnswer("about", () => client.about());
  return (
    <Page title="Settings" about="For this browser alone.">
      {error !== undefined && <Failure message={error} onRetry={again} />}
      <Section title="Theme">
        <ThemePicker />
      </Section>
      <Section title="Motion">
        <p className="text-sm text-quiet">{motionWords()}</p>
      </Section>
      <Section title="Keyboard">
        <div className="rounded-lg border bg-raised px-4 py-3.5">
          <KeyList />
        </div>
      </Section>
      <Section title="You">
        <You about={about} />
      </Section>
      <KnownHosts />
      <Section title="What is kept where">
        <KeptWhere />
      </Section>
      <p className="mt-8 min-h-5 text-xs text-faint">
        {about && `${about.name} ${about.version} · ${steadyText(about.model)}`}
      </p>
    </Page>
  );
}

/** Those that a person need not be asked about again. */
function KnownHosts(): ReactNode {
  const [hosts, setHosts] = useState(knownHosts);
  function forget(host: string): void {
    forgetHost(host);
    setHosts(knownHosts());
  }
  if (hosts.length === 0) return null;
  return (
    <Section title="Links" about="To these hosts a link is opened without asking.">
      <ul className="divide-y rounded-lg border bg-raised text-sm">
        {hosts.map((host) => (
          <li key={host} className="flex items-center gap-3 py-1.5 pl-4 pr-2">
            <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">{visibleText(host)}</span>
            <Button size="small" aria-label={`Ask again for ${host}`} onClick={() => forget(host)}>
              Ask again
            </Button>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const themes: readonly { readonly value: ThemeChoice; readonly label: string }[] = [
  { value: "system", label: "As the system" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

function ThemePicker(): ReactNode {
  const [choice, setChoice] = useState(themeChoice);
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

function motionWords(): string {
  return matchMedia("(prefers-reduced-motion: reduce)").matches
    ? "Your system asks for reduced motion: nothing moves here that need not."
    : "Little moves here. Where your system asks for reduced motion, nothing does.";
}

function You({ about }: { readonly about: About | undefined }): ReactNode {
  async function signOut(): Promise<void> {
    await client.signOut();
    location.assign("/");
  }
  if (!about) return <p className="min-h-9 text-sm text-quiet">…</p>;
  const name = about.user === "" ? "the local user" : steadyText(about.user);
  return (
    <div className="flex flex-wrap items-center justify-between gap-3">
      <p className="text-sm text-quiet">
        You are <span className="text-ink">{name}</span>
        {about.isAdmin ? " and may change agents and MCP servers." : "."}
      </p>
      <Button size="small" onClick={() => attempt(signOut)}>
        Sign out
      </Button>
    </div>
  );
}

const kept: readonly { readonly what: string; readonly where: string }[] = [
  { what: "Sessions, runs, large results", where: "In the database of the server" },
  { what: "Agents that people make", where: "In the database of the server, with their versions" },
  { what: "Keys of models", where: "In variables of the server's process; never in the database" },
  { what: "That you are signed in", where: "In a cookie that no script can read" },
  { what: "Theme, and which links to open without asking", where: "In this browser" },
];

function KeptWhere(): ReactNode {
  return (
    <dl className="divide-y rounded-lg border bg-raised text-sm">
      {kept.map(({ what, where }) => (
        <div key={what} className="flex flex-wrap gap-x-6 px-4 py-2">
          <dt className="basis-56 font-medium">{what}</dt>
          <dd className="min-w-0 flex-1 basis-56 text-quiet">{where}</dd>
        </div>
      ))}
    </dl>
  );
}
