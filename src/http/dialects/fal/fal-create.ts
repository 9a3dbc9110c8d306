import type { Caller } from '../../../access/caller.ts';
import type { Task } from '../../../task/record.ts';
import type { RequestMeta } from '../../route.ts';
import { createVideoTask, videoCreate } from '../../videos/create-video-task.ts';
import { findOwnTask } from '../../videos/own-task.ts';
import { understandFal } from './fal-body.ts';
import { falDialect, falStatuses } from './fal-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import type { FalModel } from './fal-request.ts';

/** What every route of the dialect that creates a task declares. */
export const falCreate = {
  ...videoCreate,
  dialect: falDialect,
  statuses: falStatuses,
} as const;

export interface FalCreate {
  /** Of the route. */
  readonly route: string;
  readonly params: FalModel;
  readonly webhook?: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
  readonly caller: Caller;
  readonly meta: RequestMeta;
}

export interface FalCreated {
  readonly task: Task;
  readonly headers: Readonly<Record<string, string>>;
  /** Names of the fields that were ignored. */
  readonly warnings: readonly string[];
}

export async function createFalTask(
  { route, params, webhook, body, caller, meta }: FalCreate,
  deps: DialectDeps,
): Promise<FalCreated> {
  const whole = `${params.owner}/${params.name}`;
  const isWhole = deps.catalogue.models(caller).some(({ id }) => id === whole);
  const asked = understandFal(body, { model: isWhole ? whole : params.name, webhook });
  const { task, headers, warnings } = await createVideoTask({ route, asked, caller, meta }, deps);
  const record = await findOwnTask(deps.tasks, {
    id: task.id,
    reach: { account: caller.account },
    kind: 'video',
  });
  return { task: record, headers, warnings };
}
