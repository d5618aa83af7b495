import { type ReactNode, useEffect, useState } from "react";
import { runWithToast } from "../shell/toasts.tsx";
import { useOwnData } from "./own-data-state.ts";
import { readDrop } from "./picked-files.ts";

/** Takes files and folders that are dropped anywhere on the page, except on a field that attaches them to a message. */
export function PageDrop(): ReactNode {
  const canAdd = useOwnData(({ data }) => data?.canAdd === true && data.apps.length > 0);
  const [isOver, setOver] = useState(false);
  useEffect(() => (canAdd ? listenForDrops(setOver) : undefined), [canAdd]);
  if (!isOver) return null;
  return (
    <div className="pointer-events-none fixed inset-0 z-60 flex items-end justify-center border-4 border-accent bg-accent-soft/60 pb-24">
      <p className="rounded-lg border bg-raised px-4 py-2 font-medium shadow-lifted">
        Drop to use as your own data
      </p>
    </div>
  );
}

function listenForDrops(setOver: (isOver: boolean) => void): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") === true;
  const onDragOver = (event: DragEvent) => {
    // A message field has taken it.
    const isTaken = event.defaultPrevented || !hasFiles(event);
    setOver(!isTaken);
    if (!isTaken) event.preventDefault();
  };
  const onDrop = (event: DragEvent) => {
    setOver(false);
    if (event.defaultPrevented || !hasFiles(event) || !event.dataTransfer) return;
    event.preventDefault();
    const { items } = event.dataTransfer;
    const app = findDropApp(event.target);
    runWithToast(async () => useOwnData.getState().open({ ...app, files: await readDrop(items) }));
  };
  addEventListener("dragover", onDragOver, { signal });
  addEventListener("drop", onDrop, { signal });
  // Without a target, the pointer has left the window.
  addEventListener("dragleave", (event) => event.relatedTarget === null && setOver(false), { signal });
  return () => controller.abort();
}

/** Returns the app that the files were dropped on: the open dialog's, or the one of an element with `data-own-data`. */
function findDropApp(target: EventTarget | null): { readonly app?: string } {
  const { dialog } = useOwnData.getState();
  if (dialog?.app !== undefined) return { app: dialog.app };
  const app =
    target instanceof Element ? target.closest("[data-own-data]")?.getAttribute("data-own-data") : null;
  return app ? { app } : {};
}
