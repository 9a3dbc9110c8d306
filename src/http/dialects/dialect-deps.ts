import type { RouteDeps } from '../deps.ts';
import type { TaskChangesDeps } from '../task-changes.ts';
import type { CreateVideoDeps } from '../videos/create-video-task.ts';
import type { PollDeps } from '../videos/query-task.ts';

/** What the routes of dialects stand on. */
export type DialectDeps = CreateVideoDeps &
  PollDeps &
  TaskChangesDeps &
  Pick<RouteDeps, 'tasks' | 'requests' | 'port' | 'mediaUrl' | 'keptResults' | 'images' | 'publicUrl'>;
