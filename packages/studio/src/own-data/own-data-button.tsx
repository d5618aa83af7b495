import { Database } from "lucide-react";
import type { ReactNode } from "react";
import { IconButton } from "../ui/button.tsx";
import { useOwnData } from "./own-data-state.ts";

type OwnDataButtonProps = {
  readonly app: string;
  /** The app's title. */
  readonly title: string;
  /** Shows only an icon. */
  readonly isSmall?: boolean;
};

/** Opens the dialog for an app's own data. Nothing for an app that opens none, or a user who may not add any. */
export function OwnDataButton({ app, title, isSmall = false }: OwnDataButtonProps): ReactNode {
  const canAdd = useOwnData(({ data }) => data?.canAdd === true && data.apps.some((one) => one.app === app));
  const open = useOwnData((state) => state.open);
  if (!canAdd) return null;
  if (isSmall)
    return (
      <IconButton label={`Use your own data in ${title}`} className="size-7" onClick={() => open({ app })}>
        <Database size={14} />
      </IconButton>
    );
  return (
    <button
      type="button"
      onClick={() => open({ app })}
      className="relative mt-1 inline-flex min-h-11 items-center gap-1.5 self-start text-accent text-sm hover:underline sm:min-h-8"
    >
      <Database size={14} aria-hidden="true" />
      Use your own data…<span className="sr-only"> in {title}</span>
    </button>
  );
}
