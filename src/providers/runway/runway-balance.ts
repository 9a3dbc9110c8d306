import { z } from 'zod';
import type { ProviderContext, VendorBalance } from '../provider.ts';
import { vendorBalance } from '../shared/vendor-balance.ts';
import { callRunway } from './runway-call.ts';

const organizationSchema = z.object({ creditBalance: z.unknown() });

export async function runwayBalance(context: ProviderContext): Promise<VendorBalance> {
  const answer = await callRunway({ method: 'GET', path: '/v1/organization' }, context);
  const amount = organizationSchema.safeParse(answer.json).data?.creditBalance;
  return vendorBalance(answer, { amount, unit: 'credits' });
}
