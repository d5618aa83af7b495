import type { McpServerInfo } from "capstan/client";
import { RefreshCw } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { useAbout } from "../data/about.ts";
import { client } from "../data/client.ts";
import { useAnswer } from "../data/use-request.ts";
import { attempt } from "../shell/toasts.tsx";
import { Button } from "../ui/button.tsx";
import { Failure, Loading, Nothing } from "../ui/state.tsx";
import { McpServerCard } from "./mcp-server-card.tsx";
import { Page } from "./page.tsx";
import { ShellLines } from "./shell-lines.tsx";

/** The MCP servers whose tools the agents use. */
export function McpPage(): ReactNode {
  const { about, refresh } = useAbout();
  const { value, error, again } = useAnswer("mcp", () => client.mcp.list());
  const [newer, setNewer] = useState<readonly McpServerInfo[]>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    if (!about) void refresh();
  }, [about, refresh]);
  const servers = newer ?? value;
  const isAdmin = about?.isAdmin === true;

  function change(action: () => Promise<readonly McpServerInfo[]>): void {
    setBusy(true);
    attempt(async () => {
      try {
        setNewer(await action());
      } finally {
        setBusy(false);
      }
    });
  }
  return (
    <Page
      title="MCP servers"
      about="Programs that give your agents more tools. A tool that changes is off until you trust it again."
      actions={
        isAdmin &&
        servers !== undefined &&
        servers.length > 0 && (
          <Button disabled={isBusy} onClick={() => change(() => client.mcp.refresh())}>
            <RefreshCw size={15} aria-hidden="true" className={isBusy ? "animate-spin" : ""} />
            Refresh
          </Button>
        )
      }
    >
      {error !== undefined && <Failure message={error} onRetry={again} />}
      {!servers && error === undefined && <Loading label="Loading servers" />}
      {servers?.length === 0 && <HowToAdd />}
      <div className="grid gap-4">
        {servers?.map((server) => (
          <McpServerCard
            key={server.name}
            server={server}
            onTrust={isAdmin ? (tool) => change(() => client.mcp.trust(server.name, tool)) : undefined}
          />
        ))}
      </div>
    </Page>
  );
}

function HowToAdd(): ReactNode {
  return (
    <Nothing title="No MCP servers yet">
      <p>
        Add one in the folder where the server is started, then start it again. Those that an agent brings
        with it are not listed here.
      </p>
      <div className="mt-4 grid grid-cols-1 gap-2 text-left">
        <ShellLines
          lines={[
            "capstan mcp add files -- npx -y @modelcontextprotocol/server-filesystem .",
            "capstan serve",
          ]}
        />
        <p className="mt-2">Or one at an address:</p>
        <ShellLines lines={["capstan mcp add wiki -- https://example.org/mcp"]} />
      </div>
    </Nothing>
  );
}
