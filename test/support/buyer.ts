import type { Buyer } from '../../src/access/caller.ts';
import { noFactors } from '../../src/money/price-factors.ts';

export const testBuyer: Buyer = { account: 'a', key: 'k', factors: noFactors };
