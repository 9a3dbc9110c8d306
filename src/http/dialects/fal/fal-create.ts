import type { Caller } from '../../../access/caller.ts';
import type { TaskKind } from '../../../base/task-kind.ts';
import type { RequestMeta } from '../../route.ts';
import { videoCreate } from '../../videos/create-video-task.ts';
import { createAnyTask, modelOf, type AnyCreated } from '../create-any-task.ts';
import { understandFal } from './fal-body.ts';
import { falDialect, falStatuses } from './fal-dialect.ts';
import type { DialectDeps } from '../dialect-deps.ts';
import type { FalModel } from './fal-request.ts';

export const falCreate = {
  ...videoCreate,
  dialect: falDialect,
  statuses: falStatuses,
} as const;

export interface FalCreate {
  readonly route: string;
  readonly params: FalModel;
  readonly webhook?: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
  readonly caller: Caller;
  readonly meta: RequestMeta;
}

export function createFalTask(
  { route, params, webhook, body, caller, meta }: FalCreate,
  deps: DialectDeps,
): Promise<AnyCreated> {
  const model = modelOf(params, caller, deps);
  const understand = (kind: TaskKind) => understandFal(body, kind, { model, webhook });
  return createAnyTask({ route, model, understand, caller, meta }, deps);
}
