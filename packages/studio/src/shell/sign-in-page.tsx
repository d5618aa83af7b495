import { type ReactNode, useEffect, useState } from "react";
import { client } from "../data/client.ts";
import { takeCode, useSignIn } from "../data/sign-in.ts";
import { Button } from "../ui/button.tsx";
import { Loading } from "../ui/state.tsx";

type Credentials = { readonly key: string } | { readonly code: string };

/** Signs in and reloads the page. */
async function signIn(credentials: Credentials): Promise<void> {
  useSignIn.setState({ state: "trying", error: undefined });
  try {
    await client.signIn(credentials);
    location.reload();
  } catch (cause) {
    const error = cause instanceof Error ? cause.message : String(cause);
    useSignIn.setState({ state: "needed", error });
  }
}

const code = takeCode();
if (code !== undefined) useSignIn.setState({ state: "trying" });

/** Shows the sign-in page when the server requires it. */
export function SignInGate({ children }: { readonly children: ReactNode }): ReactNode {
  const state = useSignIn((signIn) => signIn.state);
  useEffect(() => {
    if (code !== undefined) void signIn({ code });
  }, []);
  if (state === "unknown") return children;
  return state === "trying" ? <Loading label="Signing in" /> : <SignInPage />;
}

function SignInPage(): ReactNode {
  const error = useSignIn((signIn) => signIn.error);
  const [key, setKey] = useState("");
  return (
    <main className="flex h-full items-center justify-center px-4">
      <form
        className="grid w-full max-w-sm gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          void signIn({ key: key.trim() });
        }}
      >
        <div className="flex items-center gap-2 font-semibold">
          <img src="/icon.svg" alt="" className="size-5" />
          Capstan
        </div>
        <h1 className="mt-2 text-xl font-semibold">Sign in</h1>
        <p className="text-sm text-quiet">
          This server requires a key. Ask its operator for a key or a one-time sign-in link.
        </p>
        <label className="grid gap-1 text-sm font-medium">
          Key
          <input
            // biome-ignore lint/a11y/noAutofocus: it is the only field on the page
            autoFocus
            type="password"
            autoComplete="current-password"
            value={key}
            onChange={({ target }) => setKey(target.value)}
            className="h-10 rounded-md border bg-raised px-3 font-normal"
          />
        </label>
        {error !== undefined && (
          <p role="alert" className="text-sm text-bad">
            {error}
          </p>
        )}
        <Button kind="main" type="submit" disabled={key.trim() === ""}>
          Sign in
        </Button>
      </form>
    </main>
  );
}
