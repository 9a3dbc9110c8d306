import type { z } from 'zod';
import type { GatewayError } from '../../errors/errors.ts';

export interface Dialect {
  readonly tag: string;
  readonly description: string;
  readonly idName: string;
  readonly errors?: {
    readonly schema: z.ZodType;
    readonly present: (error: GatewayError) => object;
  };
}
