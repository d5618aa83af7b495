import type { McpServerInfo } from "capstan/client";
import { Plus, RefreshCw } from "lucide-react";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { useAbout } from "../data/about.ts";
import { client } from "../data/client.ts";
import { useRequest } from "../data/use-request.ts";
import { AddServer } from "../mcp/add-server.tsx";
import { runWithToast } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";
import { EmptyState, ErrorMessage, Loading } from "../ui/state.tsx";
import { McpServerCard } from "./mcp-server-card.tsx";
import { Page } from "./page.tsx";
import { ShellLines } from "./shell-lines.tsx";

/** Lists the MCP servers and their tools. */
export function McpPage(): ReactNode {
  const { about, refresh } = useAbout();
  const { value, error, retry } = useRequest("mcp", () => client.mcp.list());
  const [updated, setUpdated] = useState<readonly McpServerInfo[]>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    if (!about) void refresh();
  }, [about, refresh]);
  const servers = updated ?? value;
  const isAdmin = about?.isAdmin === true;
  const { value: settings } = useRequest(isAdmin ? "mcp-settings" : undefined, () => client.mcp.settings());
  const [isAdding, setAdding] = useState(false);
  const [added, setAdded] = useState<string>();
  const follow = useFollow(servers, setUpdated);

  function updateServers(action: () => Promise<readonly McpServerInfo[]>): void {
    setBusy(true);
    runWithToast(async () => {
      try {
        setUpdated(await action());
      } finally {
        setBusy(false);
      }
    });
  }
  return (
    <Page
      title="MCP servers"
      about="External tools for your agents. Approve what a server tells the model; a tool that changes is disabled until you approve it again."
      actions={
        isAdmin && (
          <>
            {servers !== undefined && servers.length > 0 && (
              <Button disabled={isBusy} onClick={() => updateServers(() => client.mcp.refresh())}>
                <RefreshCw size={15} aria-hidden="true" className={isBusy ? "animate-spin" : ""} />
                Refresh
              </Button>
            )}
            {settings?.canAdd === true && (
              <Button kind="main" onClick={() => setAdding(true)}>
                <Plus size={15} aria-hidden="true" />
                Add a server
              </Button>
            )}
          </>
        )
      }
    >
      {error !== undefined && <ErrorMessage message={error} onRetry={retry} />}
      {!servers && error === undefined && <Loading label="Loading servers" />}
      {servers?.length === 0 && <HowToAdd canAdd={settings?.canAdd === true} />}
      {isAdding && settings && (
        <AddServer
          settings={settings}
          onAdded={(next) => {
            setUpdated(next);
            setAdded(next.at(-1)?.name);
          }}
          onClose={() => setAdding(false)}
        />
      )}
      <div className="grid grid-cols-1 gap-4">
        {servers?.map((server) => (
          <McpServerCard
            key={server.name}
            server={server}
            isNew={server.name === added}
            onTrust={
              isAdmin
                ? (tool) =>
                    updateServers(() => client.mcp.trust(server.name, tool, server.metadata?.fingerprint))
                : undefined
            }
            admin={
              isAdmin
                ? {
                    remove: async () => setUpdated(await client.mcp.remove(server.name)),
                    signOut: async () => setUpdated(await client.mcp.signOut(server.name)),
                    follow,
                  }
                : undefined
            }
          />
        ))}
      </div>
    </Page>
  );
}

const followMs = 1_000;

/** Loads the servers again while one of them starts or waits for a sign-in. Returns a function that loads them now. */
function useFollow(
  servers: readonly McpServerInfo[] | undefined,
  onServers: (servers: readonly McpServerInfo[]) => void,
): () => void {
  const isMoving =
    servers?.some(({ state }) => ["starting", "signing-in", "restarting"].includes(state)) ?? false;
  const load = useCallback(() => {
    // The page keeps what it shows if this fails: the next request reports it.
    client.mcp.list().then(onServers, () => undefined);
  }, [onServers]);
  useEffect(() => {
    if (!isMoving) return;
    const timer = setInterval(load, followMs);
    return () => clearInterval(timer);
  }, [isMoving, load]);
  return load;
}

function HowToAdd({ canAdd }: { readonly canAdd: boolean }): ReactNode {
  return (
    <EmptyState title="No MCP servers yet">
      <p>
        {canAdd
          ? "Add one here, or in the folder where Capstan starts. "
          : "Add a server in the folder where Capstan starts, then restart it. "}
        Servers configured by an agent are not listed here.
      </p>
      <div className="mt-4 grid grid-cols-1 gap-2 text-left">
        <ShellLines
          lines={[
            "capstan mcp add files -- npx -y @modelcontextprotocol/server-filesystem .",
            "capstan serve",
          ]}
        />
        <p className="mt-2">Or connect to a URL:</p>
        <ShellLines lines={["capstan mcp add wiki -- https://example.org/mcp"]} />
      </div>
    </EmptyState>
  );
}
