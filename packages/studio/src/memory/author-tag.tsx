import type { Memory } from "capstan/client/memories";
import type { ReactNode } from "react";
import { Tag } from "../pages/page.tsx";

const authors = {
  user: { label: "You", title: "You wrote this." },
  operator: { label: "Agent", title: "An agent wrote this. It had read only you and its operator." },
  application: { label: "Untrusted", title: "An agent wrote this after reading context of an application." },
  external: { label: "Untrusted", title: "An agent wrote this after reading content from others." },
} as const;

/** Shows who wrote a memory. */
export function AuthorTag({ provenance }: Pick<Memory, "provenance">): ReactNode {
  const { label, title } = authors[provenance];
  return (
    <span title={title}>
      <Tag tone={label === "Untrusted" ? "warn" : "quiet"}>{label}</Tag>
    </span>
  );
}

/** Explains the author in a sentence. */
export function describeAuthor({ provenance }: Pick<Memory, "provenance">): string {
  const { label, title } = authors[provenance];
  const isUntrusted = label === "Untrusted";
  return isUntrusted
    ? `${title} It stays untrusted when you edit it: agents that read it ask you before they act. To make it yours, delete it and write a new one.`
    : title;
}
