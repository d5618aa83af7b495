import type { DataInfo, DataLoaderInfo } from "capstan/client";
import { formatCount } from "capstan/sessions";
import { type ReactNode, useId, useState } from "react";
import { useAbout } from "../data/about.ts";
import { runWithToast } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { escapeBidi } from "../ui/escape-text.ts";
import { SelectField } from "../ui/select-field.tsx";
import { FilePicker } from "./file-picker.tsx";
import { addLocation, type OpenedDialog, uploadData, useOwnData } from "./own-data-state.ts";
import { findAcceptingApps, type PickedFile, selectFiles, suggestTitle } from "./picked-files.ts";
import { parseSettings, SettingFields, type TypedSettings } from "./setting-fields.tsx";
import { SourceList } from "./source-list.tsx";

/** Opens an app on own data, and lists the data it has. */
export function OwnDataDialog(): ReactNode {
  const { data, dialog, close } = useOwnData();
  if (!dialog || !data) return null;
  return <AppDialog key={dialog.app} data={data} opened={dialog} onClose={close} />;
}

type AppDialogProps = {
  readonly data: DataInfo;
  readonly opened: OpenedDialog;
  readonly onClose: () => void;
};

function AppDialog({ data, opened, onClose }: AppDialogProps): ReactNode {
  const { open } = useOwnData.getState();
  const [typed, setTyped] = useState<TypedSettings>({});
  const files = opened.files ?? [];
  const candidates = files.length === 0 ? data.apps : findAcceptingApps(files, data.apps);
  const loader = data.apps.find(({ app }) => app === opened.app) ?? candidates[0];
  const getTitle = useAppTitles();
  if (!loader) return <NothingReads data={data} onClose={onClose} />;
  const title = getTitle(loader.app);
  const choices = candidates.map(({ app }) => ({ value: app, label: getTitle(app) }));
  return (
    <Dialog
      title={opened.app === undefined ? "Use your own data" : `Your own data in ${title}`}
      description={`${title} reads ${escapeBidi(loader.description)}.`}
      isOpen
      onClose={onClose}
    >
      <div className="grid gap-4">
        {opened.app === undefined && choices.length > 1 && (
          <div className="flex items-center gap-2 text-sm">
            Open with
            <SelectField
              label="App"
              value={loader.app}
              choices={choices}
              onChange={(app) => open({ app, files })}
            />
          </div>
        )}
        {data.canAdd && (
          <>
            <FilePicker loader={loader} onPick={(picked) => open({ app: loader.app, files: picked })} />
            <SettingFields loader={loader} typed={typed} onChange={setTyped} />
            {files.length > 0 && (
              <PickedData key={suggestTitle(files)} loader={loader} files={files} typed={typed} />
            )}
            <LocationField loader={loader} allowsPaths={data.allowsPaths} typed={typed} />
          </>
        )}
        <SourceList sources={data.sources.filter(({ app }) => app === loader.app)} canChange={data.canAdd} />
      </div>
    </Dialog>
  );
}

function useAppTitles(): (app: string) => string {
  const agents = useAbout(({ about }) => about?.agents ?? []);
  return (app) => escapeBidi(agents.find(({ name }) => name === app)?.title ?? app);
}

function NothingReads({
  data,
  onClose,
}: {
  readonly data: DataInfo;
  readonly onClose: () => void;
}): ReactNode {
  const getTitle = useAppTitles();
  return (
    <Dialog title="No app reads these files" isOpen onClose={onClose}>
      <ul className="list-disc pl-5 text-sm">
        {data.apps.map(({ app, description }) => (
          <li key={app}>
            {getTitle(app)} reads {escapeBidi(description)}.
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

type PickedDataProps = {
  readonly loader: DataLoaderInfo;
  readonly files: readonly PickedFile[];
  readonly typed: TypedSettings;
};

/** The chosen files: how many are read, and what to call them. */
function PickedData({ loader, files, typed }: PickedDataProps): ReactNode {
  const { open } = useOwnData.getState();
  const { accepted, otherCount, otherExtensions } = selectFiles(files, loader);
  const [title, setTitle] = useState(suggestTitle(accepted));
  const id = useId();
  const count = formatCount(accepted.length, "file");
  return (
    <form
      className="grid gap-2 rounded-lg border bg-sunken p-3 text-sm"
      onSubmit={(event) => {
        event.preventDefault();
        open({ app: loader.app });
        const data = { app: loader.app, title: title.trim(), settings: parseSettings(typed) };
        runWithToast(() => uploadData({ ...data, files: accepted }));
      }}
    >
      <p>
        {count} ({formatTotalSize(accepted)})
        {otherCount > 0 && (
          <span className="text-warn">
            {`; ${otherCount.toLocaleString("en")} of other types will not be uploaded (${otherExtensions.slice(0, 8).join(", ")})`}
          </span>
        )}
      </p>
      <div className="flex flex-wrap items-center gap-2">
        <label htmlFor={id}>Name</label>
        <input
          id={id}
          data-first
          value={title}
          maxLength={200}
          onChange={({ target }) => setTitle(target.value)}
          className="h-9 min-w-0 flex-1 rounded-md border bg-raised px-2.5"
        />
        <Button
          kind="main"
          type="submit"
          blockedBy={
            accepted.length === 0
              ? "None of these files can be used."
              : title.trim() === "" && "Enter a name."
          }
        >
          Add
        </Button>
      </div>
    </form>
  );
}

function formatTotalSize(files: readonly PickedFile[]): string {
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

type LocationFieldProps = {
  readonly loader: DataLoaderInfo;
  readonly allowsPaths: boolean;
  readonly typed: TypedSettings;
};

/** A path on this machine, or the address of a database. */
function LocationField({ loader, allowsPaths, typed }: LocationFieldProps): ReactNode {
  const [location, setLocation] = useState("");
  const id = useId();
  const { app, schemes } = loader;
  if (!allowsPaths && schemes.length === 0) return null;
  const kinds = [
    allowsPaths && "a path on this machine",
    schemes.length > 0 && `an address (${schemes.join(", ")})`,
  ];
  return (
    <form
      className="grid gap-1.5 text-sm"
      onSubmit={(event) => {
        event.preventDefault();
        runWithToast(async () => {
          await addLocation(app, location.trim(), parseSettings(typed));
          setLocation("");
        });
      }}
    >
      <label htmlFor={id}>Or enter {kinds.filter(Boolean).join(" or ")}</label>
      <div className="flex gap-2">
        <input
          id={id}
          value={location}
          placeholder={allowsPaths ? "~/notes" : `${schemes[0]}//localhost`}
          onChange={({ target }) => setLocation(target.value)}
          spellCheck={false}
          autoComplete="off"
          className="h-9 min-w-0 flex-1 rounded-md border bg-raised px-2.5 font-mono text-small"
        />
        <Button type="submit" disabled={location.trim() === ""}>
          Add
        </Button>
      </div>
      {allowsPaths && <p className="text-faint text-xs">Files are read where they are, and never copied.</p>}
    </form>
  );
}
