import type { MouseEvent, ReactNode } from "react";
import { create, type StoreApi, type UseBoundStore } from "zustand";

type OutsideLinkProps = {
  readonly href: string;
  /** The whole address, as people may see it. */
  readonly address: string;
  readonly className: string;
  readonly children: ReactNode;
};

/** A link that was clicked and is not opened yet. */
export type Leaving = Pick<OutsideLinkProps, "href" | "address">;

export const useLeaving: UseBoundStore<StoreApi<{ readonly link: Leaving | undefined }>> = create<{
  readonly link: Leaving | undefined;
}>()(() => ({ link: undefined }));

const place = "capstan-known-hosts";

/** Hosts whose links are opened without asking. */
export function knownHosts(): readonly string[] {
  try {
    const hosts: unknown = JSON.parse(localStorage.getItem(place) ?? "[]");
    return Array.isArray(hosts) ? hosts.filter((host) => typeof host === "string") : [];
  } catch {
    return []; // somebody has changed it: ask again
  }
}

/** Of a link that leads to none, such as a mail address, there is nothing to remember. */
export const hostOf = (href: string): string => URL.parse(href)?.host ?? "";

/** Links to this host are opened without asking from now on. */
export function trustHost(host: string): void {
  localStorage.setItem(place, JSON.stringify([...new Set([...knownHosts(), host])]));
}

/** Links to this host are asked about again. */
export function forgetHost(host: string): void {
  localStorage.setItem(place, JSON.stringify(knownHosts().filter((known) => known !== host)));
}

/** A link that a model or a tool has written. Where it leads is shown before it is opened, but for hosts that are known. */
export function OutsideLink({ href, address, className, children }: OutsideLinkProps): ReactNode {
  const ask = (event: MouseEvent) => {
    const isMenu = event.button > 1;
    if (isMenu || knownHosts().includes(hostOf(href))) return;
    event.preventDefault();
    useLeaving.setState({ link: { href, address } });
  };
  return (
    <a
      href={href}
      title={address}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className={className}
      onClick={ask}
      onAuxClick={ask}
    >
      {children}
    </a>
  );
}
