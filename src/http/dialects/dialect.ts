import type { z } from 'zod';
import type { GatewayError } from '../../errors/errors.ts';

/** The interface of another service, spoken over our own tasks: its routes decode, and present. */
export interface Dialect {
  /** Its routes stand under it in the document. */
  readonly tag: string;
  readonly description: string;
  /** The name that errors use for a task id, such as `video_id`. */
  readonly idName: string;
  /** Absent: it has our error body. */
  readonly errors?: {
    readonly schema: z.ZodType;
    readonly present: (error: GatewayError) => object;
  };
}
