import type { Caller } from '../../access/caller.ts';
import type { TaskKind } from '../../base/task-kind.ts';
import type { Task } from '../../task/record.ts';
import type { Understood } from '../../intake/understand.ts';
import { createdHeaders } from '../cost-headers.ts';
import { operationOf } from '../images/image-body.ts';
import { createImageTask } from '../images/image-create.ts';
import type { RequestMeta } from '../route.ts';
import { createVideoTask } from '../videos/create-video-task.ts';
import { findOwnTask } from '../videos/own-task.ts';
import type { DialectDeps } from './dialect-deps.ts';

export interface AnyCreate {
  /** An operationId. Together with the account, it is the scope of the idempotency key. */
  readonly route: string;
  readonly model: string;
  readonly understand: (kind: TaskKind) => Understood;
  readonly caller: Caller;
  readonly meta: RequestMeta;
}

export interface AnyCreated {
  readonly task: Task;
  readonly headers: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

export async function createAnyTask(create: AnyCreate, deps: DialectDeps): Promise<AnyCreated> {
  const { route, model, understand, caller, meta } = create;
  const isImage = deps.catalogue.models(caller).some(({ id, kind }) => id === model && kind === 'image');
  const asked = understand(isImage ? 'image' : 'video');
  const order = { route, asked, caller, meta };
  const { task, warnings } = await (isImage
    ? createImageTask({ ...order, operation: operationOf(asked) }, deps)
    : createVideoTask(order, deps));
  const record = await findOwnTask(deps.tasks, { id: task.id, reach: { account: caller.account } });
  return { task: record, headers: createdHeaders(task), warnings };
}

/** If the model id contains no slash, the owner can be any word. */
export function modelOf(
  { owner, name }: { readonly owner: string; readonly name: string },
  caller: Caller,
  { catalogue }: Pick<DialectDeps, 'catalogue'>,
): string {
  const whole = `${owner}/${name}`;
  return catalogue.models(caller).some(({ id }) => id === whole) ? whole : name;
}
