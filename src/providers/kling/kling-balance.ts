import { z } from 'zod';
import type { ProviderContext, VendorBalance } from '../provider.ts';
import { vendorBalance } from '../shared/vendor-balance.ts';
import type { KlingCall } from './kling-call.ts';

const yearMs = 365 * 86_400_000;

const packsSchema = z.object({
  resource_pack_subscribe_infos: z.array(z.object({ status: z.string(), remaining_quantity: z.number() })),
});

/**
 * Adds up the remaining units of the active resource packs. The vendor updates them only twice a day, and packs expire
 * after at most a year. Source: the vendor's page "Account Information Inquiry", 2026-11.
 */
export function createKlingBalance(call: KlingCall, now: () => number) {
  return async (context: ProviderContext): Promise<VendorBalance> => {
    const end = now();
    const path = `/account/costs?start_time=${end - 2 * yearMs}&end_time=${end}`;
    const { data, answer } = await call({ method: 'GET', path }, context);
    const packs = packsSchema.safeParse(data).data?.resource_pack_subscribe_infos;
    const amount = packs
      ?.filter(({ status }) => status === 'online')
      .reduce((sum, { remaining_quantity: left }) => sum + left, 0);
    return vendorBalance(answer, { amount, unit: 'units' });
  };
}
