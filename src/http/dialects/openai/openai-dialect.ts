import { z } from 'zod';
import type { RouteDeps } from '../../deps.ts';
import type { CreateVideoDeps } from '../../videos/create-video-task.ts';
import type { PollDeps } from '../../videos/query-task.ts';
import type { Dialect } from '../dialect.ts';

/** What the routes of the dialect stand on. */
export type OpenaiDeps = CreateVideoDeps &
  PollDeps &
  Pick<RouteDeps, 'tasks' | 'requests' | 'port' | 'mediaUrl' | 'keptResults' | 'images'>;

export const openaiDialect: Dialect = {
  tag: 'Videos as OpenAI',
  description:
    'The same tasks as under `/v1/videos/generations`, in the form of OpenAI’s `/v1/videos`. The guide “Dialects” says what is mapped to what.',
};

/** The list and our own routes lie on the same path. */
export const openaiVideoAddress = /^\/v1\/videos\/task_[^/]*(?:\/|$)/;

export const openaiParams = z.object({ task_id: z.string().min(1).meta({ pattern: '^task_' }) });
