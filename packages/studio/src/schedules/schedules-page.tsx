import type { ScheduleView } from "capstan/client/schedules";
import { Plus } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { schedulesClient } from "../data/schedules-client.ts";
import { useRequest } from "../data/use-request.ts";
import { Page } from "../pages/page.tsx";
import { Button } from "../ui/button.tsx";
import { EmptyState, ErrorMessage, Loading } from "../ui/state.tsx";
import { NewScheduleDialog } from "./new-schedule.tsx";
import { ScheduleRow } from "./schedule-row.tsx";

/** Runs start while the page is open. */
const refreshMs = 5_000;

/** Lists the user's schedules, and adds new ones. */
export function SchedulesPage(): ReactNode {
  const { value: schedules, error, retry } = useRequest("schedules", () => schedulesClient.list());
  const [isAdding, setAdding] = useState(false);
  useEffect(() => {
    const timer = setInterval(retry, refreshMs);
    return () => clearInterval(timer);
  }, [retry]);
  const add = (
    <Button kind="main" onClick={() => setAdding(true)}>
      <Plus size={15} aria-hidden="true" /> New schedule
    </Button>
  );
  return (
    <Page
      title="Schedules"
      about="Messages that start a run at a time, at intervals, or by cron. In a chat, ask for a reminder."
      actions={add}
    >
      {error !== undefined && <ErrorMessage message={error} onRetry={retry} />}
      {!schedules && error === undefined && <Loading label="Loading schedules" />}
      {schedules?.length === 0 && (
        <EmptyState title="Nothing is scheduled">
          Add a message that an agent answers tomorrow at 9, every weekday, or every two hours.
        </EmptyState>
      )}
      {schedules && schedules.length > 0 && <ScheduleList schedules={schedules} onChange={retry} />}
      <NewScheduleDialog isOpen={isAdding} onClose={() => setAdding(false)} onAdded={retry} />
    </Page>
  );
}

type ScheduleListProps = {
  readonly schedules: readonly ScheduleView[];
  readonly onChange: () => void;
};

function ScheduleList({ schedules, onChange }: ScheduleListProps): ReactNode {
  return (
    <ul aria-label="Schedules" className="divide-y rounded-lg border bg-raised">
      {schedules.map((schedule) => (
        <ScheduleRow key={schedule.id} schedule={schedule} onChange={onChange} />
      ))}
    </ul>
  );
}
