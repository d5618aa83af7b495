import type { DataLoaderInfo } from "capstan/client";
import { FolderOpen, Upload } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { Button } from "../ui/button.tsx";
import { type PickedFile, readInput } from "./picked-files.ts";

type FilePickerProps = {
  readonly loader: DataLoaderInfo;
  readonly onPick: (files: readonly PickedFile[]) => void;
};

/** A place to drop files, and buttons to choose them. The whole page takes a drop: see `PageDrop`. */
export function FilePicker({ loader, onPick }: FilePickerProps): ReactNode {
  const { extensions, acceptsFolders } = loader;
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const input = {
    ...{ type: "file", multiple: true, tabIndex: -1, className: "sr-only" },
    onChange({ target }: React.ChangeEvent<HTMLInputElement>) {
      onPick(readInput(target.files));
      target.value = "";
    },
  };
  const takesFiles = extensions.length > 0;
  return (
    <div className="flex flex-wrap items-center justify-center gap-2 rounded-lg border-2 border-dashed px-4 py-6">
      <p className="w-full text-center text-quiet text-sm">
        Drop {takesFiles ? (acceptsFolders ? "files or a folder" : "files") : "a folder"} here, or choose:
      </p>
      {takesFiles && (
        <>
          <input {...input} ref={files} accept={extensions.join(",")} aria-label="Files" />
          <Button onClick={() => files.current?.click()}>
            <Upload size={15} aria-hidden="true" />
            Choose files
          </Button>
        </>
      )}
      {acceptsFolders && (
        <>
          <input {...input} ref={folder} {...{ webkitdirectory: "" }} aria-label="Folder" />
          <Button onClick={() => folder.current?.click()}>
            <FolderOpen size={15} aria-hidden="true" />
            Choose a folder
          </Button>
        </>
      )}
    </div>
  );
}
