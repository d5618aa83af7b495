import type { MouseEvent, ReactNode } from "react";
import { create, type StoreApi, type UseBoundStore } from "zustand";

type ExternalLinkProps = {
  readonly href: string;
  /** The full address, safe to display. */
  readonly address: string;
  readonly className: string;
  readonly children: ReactNode;
};

/** A clicked link that waits for confirmation. */
export type PendingLink = Pick<ExternalLinkProps, "href" | "address">;

export const usePendingLink: UseBoundStore<StoreApi<{ readonly link: PendingLink | undefined }>> = create<{
  readonly link: PendingLink | undefined;
}>()(() => ({ link: undefined }));

const storageKey = "capstan-known-hosts";

/** Hosts whose links open without confirmation. */
export function getTrustedHosts(): readonly string[] {
  try {
    const hosts: unknown = JSON.parse(localStorage.getItem(storageKey) ?? "[]");
    return Array.isArray(hosts) ? hosts.filter((host) => typeof host === "string") : [];
  } catch {
    return []; // corrupted: ask again
  }
}

/** Empty for links without a host, such as `mailto:`. */
export const getHost = (href: string): string => URL.parse(href)?.host ?? "";

/** Remembers that links to this host open without confirmation. */
export function trustHost(host: string): void {
  localStorage.setItem(storageKey, JSON.stringify([...new Set([...getTrustedHosts(), host])]));
}

/** Asks again before opening links to this host. */
export function untrustHost(host: string): void {
  localStorage.setItem(
    storageKey,
    JSON.stringify(getTrustedHosts().filter((trustedHost) => trustedHost !== host)),
  );
}

/** A link written by a model or tool. Shows its target before opening, except for trusted hosts. */
export function ExternalLink({ href, address, className, children }: ExternalLinkProps): ReactNode {
  const confirm = (event: MouseEvent) => {
    const isMenu = event.button > 1;
    if (isMenu || getTrustedHosts().includes(getHost(href))) return;
    event.preventDefault();
    usePendingLink.setState({ link: { href, address } });
  };
  return (
    <a
      href={href}
      title={address}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className={className}
      onClick={confirm}
      onAuxClick={confirm}
    >
      {children}
    </a>
  );
}
