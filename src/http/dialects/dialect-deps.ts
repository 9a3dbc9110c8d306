import type { RouteDeps } from '../deps.ts';
import type { ImageCreateDeps } from '../images/image-create.ts';
import type { TaskChangesDeps } from '../task-changes.ts';
import type { CreateVideoDeps } from '../videos/create-video-task.ts';
import type { PollDeps } from '../videos/query-task.ts';

export type DialectDeps = CreateVideoDeps &
  ImageCreateDeps &
  PollDeps &
  TaskChangesDeps &
  Pick<RouteDeps, 'requests' | 'port' | 'keptResults' | 'publicUrl'>;
