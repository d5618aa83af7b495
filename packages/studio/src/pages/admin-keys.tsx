import { type FormEvent, type ReactNode, useState } from "react";
import { admin } from "../data/admin.ts";
import { client } from "../data/client.ts";
import { withoutDetection } from "../data/sign-in.ts";
import { useRequest } from "../data/use-request.ts";
import { runWithToast } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { formatTimeAgo } from "../ui/format-age.ts";
import { ErrorMessage, Loading } from "../ui/state.tsx";
import { ConfirmButton } from "./confirm-button.tsx";
import { Section, Tag } from "./page.tsx";

/** Keys of all users: create and revoke. */
export function KeySection(): ReactNode {
  const { value: keys, error, retry } = useRequest("keys", admin.listKeys);
  const valid = keys?.filter(({ isRevoked }) => !isRevoked);
  return (
    <Section title="Keys" about="A user signs in with a key. Once one exists, every request needs one.">
      {error !== undefined && <ErrorMessage message={error} onRetry={retry} />}
      {!keys && error === undefined && <Loading label="Loading keys" />}
      {valid !== undefined && valid.length > 0 && (
        <ul className="mb-3 divide-y rounded-lg border bg-raised">
          {valid.map(({ id, user, isAdmin, createdAt }) => (
            <li key={id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2 text-sm">
              <span className="min-w-0 flex-1 basis-40 truncate">
                {user} <span className="font-mono text-xs text-faint">{id}</span>
              </span>
              {isAdmin && <Tag tone="accent">admin</Tag>}
              <span className="text-xs text-faint">{formatTimeAgo(createdAt, Date.now())}</span>
              <ConfirmButton
                label="Revoke"
                name={`Revoke key ${id} of ${user}`}
                consequence="Requests with this key are refused at once. This cannot be undone."
                onConfirm={() => admin.revokeKey(id).then(retry)}
              />
            </li>
          ))}
        </ul>
      )}
      {valid !== undefined && <NewKey isFirst={valid.length === 0} onCreated={retry} />}
    </Section>
  );
}

/** From the first key on, every request needs one, so this browser signs in with it. */
async function createKey(key: Parameters<typeof admin.createKey>[0], isFirst: boolean): Promise<string> {
  const { secret } = await admin.createKey(key);
  if (isFirst) await client.signIn({ key: secret });
  return secret;
}

type NewKeyProps = { readonly isFirst: boolean; readonly onCreated: () => void };

/** The first key is an admin's by default: without one, this page could not be opened again. */
function NewKey({ isFirst, onCreated }: NewKeyProps): ReactNode {
  const [secret, setSecret] = useState<string>();
  function create(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = event.currentTarget;
    const data = new FormData(form);
    runWithToast(async () => {
      const key = { user: String(data.get("user")).trim(), isAdmin: data.has("isAdmin") };
      setSecret(await withoutDetection(() => createKey(key, isFirst)));
      form.reset();
      onCreated();
    });
  }
  return (
    <>
      <form onSubmit={create} className="flex flex-wrap items-center gap-3 text-sm">
        <input
          name="user"
          required
          pattern="[\w.\-]{1,64}"
          aria-label="User of the new key"
          placeholder="User"
          className="h-9 rounded-md border bg-raised px-3 text-sm"
        />
        <label className="flex items-center gap-2">
          <input type="checkbox" name="isAdmin" defaultChecked={isFirst} /> Admin
        </label>
        <Button type="submit">Create key</Button>
      </form>
      <Dialog
        title="New key"
        description="It is shown only now: the server stores its hash."
        isOpen={secret !== undefined}
        onClose={() => setSecret(undefined)}
      >
        <div className="flex items-center gap-2">
          <code className="min-w-0 flex-1 break-all rounded-md bg-sunken px-3 py-2 text-xs">{secret}</code>
          <CopyButton label="Copy key" text={() => secret ?? ""} />
        </div>
      </Dialog>
    </>
  );
}
