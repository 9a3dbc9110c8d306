import type { z } from 'zod';
import type { GatewayError } from '../../errors/errors.ts';

/** Another service's interface to our tasks. Its routes accept that service's requests and present results its way. */
export interface Dialect {
  readonly tag: string;
  readonly description: string;
  /** The name of a task id in errors, such as `video_id`. */
  readonly idName: string;
  readonly errors?: {
    readonly schema: z.ZodType;
    readonly present: (error: GatewayError) => object;
  };
}
