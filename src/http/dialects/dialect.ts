import type { z } from 'zod';
import type { GatewayError } from '../../errors/errors.ts';

/** Another service's interface to our tasks. Its routes decode that service's requests and present results its way. */
export interface Dialect {
  /** The tag of the dialect's routes in the OpenAPI document. */
  readonly tag: string;
  readonly description: string;
  /** The name that errors use for a task id, such as `video_id`. */
  readonly idName: string;
  /** Undefined if the dialect uses our error body. */
  readonly errors?: {
    readonly schema: z.ZodType;
    readonly present: (error: GatewayError) => object;
  };
}
