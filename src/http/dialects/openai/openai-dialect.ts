import { z } from 'zod';
import type { Dialect } from '../dialect.ts';

export const openaiDialect: Dialect = {
  idName: 'video_id',
  tag: 'Videos as OpenAI',
  description:
    'The same tasks as under `/v1/videos/generations`, in the format of OpenAI’s `/v1/videos`. The guide “Dialects” describes the mapping.',
};

/** Our own routes have similar paths, so this matches only paths with a task id. */
export const openaiVideoAddress = /^\/v1\/videos\/task_[^/]*(?:\/|$)/;

export const openaiParams = z.object({ task_id: z.string().min(1).meta({ pattern: '^task_' }) });
