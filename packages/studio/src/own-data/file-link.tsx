import { FileText } from "lucide-react";
import type { ReactNode } from "react";

const base = "http://studio.invalid";
const maxLength = 4000;

/** Returns the address of an own file on this server; undefined for any other address. */
export function parseFileAddress(address: unknown): string | undefined {
  if (typeof address !== "string" || address.length > maxLength) return undefined;
  const url = URL.parse(address, base);
  const isFile = url?.origin === base && /^\/api\/data\/[^/]+\/files\/./.test(url.pathname);
  return isFile ? url.pathname + url.hash : undefined;
}

type FileLinkProps = {
  readonly address: unknown;
  readonly className: string;
  /** Default: "Open the document", with the page of a PDF. */
  readonly children?: ReactNode;
};

/** Opens one of the user's own files at the passage, in a new tab. Nothing for any other address. */
export function FileLink({ address, className, children }: FileLinkProps): ReactNode {
  const href = parseFileAddress(address);
  if (href === undefined) return null;
  const page = /#page=(\d+)$/.exec(href)?.[1];
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" className={className}>
      {children ?? (
        <>
          <FileText size={14} aria-hidden="true" className="shrink-0" />
          {page === undefined ? "Open the document" : `Open the document at page ${page}`}
        </>
      )}
    </a>
  );
}
